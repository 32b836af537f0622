import { describe, expect, it } from 'vitest';
import { nextSlot, refreshDelay, retryDelay } from '../../../src/credentials/refresh.js';
import { restartDelay } from '../../../src/credentials/restart-delay.js';

const hour = 3_600_000;

describe('credentials are fetched again', () => {
  it('two thirds into their life at the latest, and up to a tenth of it earlier', () => {
    expect(refreshDelay(hour, 0)).toBe(40 * 60_000);
    expect(refreshDelay(hour, 1)).toBe(34 * 60_000);
  });

  it('after a second when they live shorter than that, or have expired already', () => {
    expect(refreshDelay(900, 0)).toBe(1000);
    expect(refreshDelay(-5, 0.5)).toBe(1000);
  });

  it('ever more rarely while the source does not answer, but at least every 20 s', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((failures) => retryDelay(failures, 'timeout', 0))).toEqual([
      1000, 2000, 4000, 8000, 16_000, 20_000, 20_000,
    ]);
    expect(retryDelay(6, 'timeout', 1)).toBe(10_000);
  });

  it('at least every minute while the source refuses', () => {
    expect(retryDelay(60, 'refused', 0)).toBe(60_000);
  });

  it('one task after another when many were found at a restart', () => {
    let slot = 0;
    const slots = Array.from({ length: 100 }, () => (slot = nextSlot(1_000_000, slot)));
    expect(slots[0]).toBe(1_000_000);
    expect(slots[99]).toBe(1_000_000 + 99 * 25);
    expect(nextSlot(2_000_000, slot)).toBe(2_000_000);
  });
});

describe('a server that ended', () => {
  it('is started again at once, then ever later, and at least every 5 s', () => {
    expect([0, 1, 2, 3, 4, 20].map(restartDelay)).toEqual([0, 100, 200, 400, 800, 5000]);
  });
});
