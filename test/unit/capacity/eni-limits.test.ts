import { describe, expect, it } from 'vitest';
import table from '../../../src/capacity/eni-limits.json' with { type: 'json' };
import { eniLimits, limitsAsOf } from '../../../src/capacity/eni-limits.js';

describe('the table of ENI limits', () => {
  it.each([
    ['t3.nano', { maxEnis: 2, branchEnis: 0, cards: 1 }],
    ['m5.large', { maxEnis: 3, branchEnis: 9, cards: 1 }],
    ['c5.18xlarge', { maxEnis: 15, branchEnis: 107, cards: 1 }],
    ['p4d.24xlarge', { maxEnis: 60, branchEnis: 62, cards: 4 }],
    ['p5.48xlarge', { maxEnis: 64, branchEnis: 120, cards: 32 }],
    ['trn2.48xlarge', { maxEnis: 32, branchEnis: null, cards: 16 }],
  ])('knows %s', (type, limits) => {
    expect(eniLimits(type)).toEqual(limits);
  });

  it.each(['zz9.large', '', 'M5.LARGE', 'constructor', '__proto__'])('does not know "%s"', (type) => {
    expect(eniLimits(type)).toBeUndefined();
  });

  it('says of which day it is, and has a whole number of ENIs for each card of each type', () => {
    expect(limitsAsOf).toMatch(/^\d{4}-\d\d-\d\d$/);
    const types = Object.keys(table.instanceTypes);
    expect(types.length).toBeGreaterThan(1300);
    for (const type of types) {
      const { maxEnis, cards } = eniLimits(type)!;
      expect(maxEnis, type).toBeGreaterThan(0);
      expect(maxEnis % cards, type).toBe(0);
    }
  });
});
