import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = new URL('../../deploy/eni-limits/refresh.mjs', import.meta.url).pathname;
const shipped = new URL('../../src/capacity/eni-limits.json', import.meta.url).pathname;
const before = {
  asOf: '2026-01-01',
  instanceTypes: { 'm5.large': { maxEnis: 2, branchEnis: 9 }, 'old.large': { maxEnis: 4, branchEnis: null } },
};

let folder: string;
let table: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eni-limits-'));
  table = join(folder, 'eni-limits.json');
  writeFileSync(table, JSON.stringify(before));
});

afterEach(() => rmSync(folder, { recursive: true }));

function document(...types: [name: string, maxEnis: number, cards?: number][]): string {
  const InstanceTypes = types.map(([InstanceType, MaximumNetworkInterfaces, MaximumNetworkCards = 1]) => ({
    InstanceType,
    NetworkInfo: { MaximumNetworkInterfaces, MaximumNetworkCards, NetworkPerformance: 'Up to "25" \\ {Gigabit}' },
  }));
  return JSON.stringify({ InstanceTypes, NextToken: '}' }, null, 2);
}

function refresh(input: string) {
  const { status, stderr } = spawnSync(process.execPath, [script, table, '2026-02-02'], { input, encoding: 'utf8' });
  return { status, stderr, table: JSON.parse(readFileSync(table, 'utf8')) as typeof before };
}

describe('a refresh of the table', () => {
  it('takes new numbers, and keeps branch ENIs and types that EC2 does not speak of', () => {
    const { status, table: after } = refresh(document(['m5.large', 3], ['p5.48xlarge', 64, 32]));
    expect(status).toBe(0);
    expect(after).toEqual({
      asOf: '2026-02-02',
      instanceTypes: {
        'm5.large': { maxEnis: 3, branchEnis: 9 },
        'old.large': { maxEnis: 4, branchEnis: null },
        'p5.48xlarge': { maxEnis: 64, branchEnis: null, cards: 32 },
      },
    });
  });

  it('reads pages and regions that follow each other', () => {
    const { table: after } = refresh(
      `${document(['a.large', 3])}\n${document(['b.large', 4])}${document(['a.large', 3])}`,
    );
    expect(Object.keys(after.instanceTypes)).toEqual(['a.large', 'b.large', 'm5.large', 'old.large']);
  });

  it.each([
    ['regions contradict each other', document(['a.large', 3]) + document(['a.large', 4]), 'a.large has 3 ENIs'],
    ['a number is missing', '{"InstanceTypes": [{"InstanceType": "a.large"}]}', 'a.large has no NetworkInfo'],
    ['the input is cut short', document(['a.large', 3]).slice(0, -3), 'cut short'],
    ['the input is empty', '', 'cut short'],
    ['the input is of another call', '{"Reservations": []}', 'has no InstanceTypes'],
  ])('leaves the table alone when %s', (_, input, reason) => {
    const { status, stderr, table: after } = refresh(input);
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
    expect(after).toEqual(before);
  });

  it('of nothing new leaves the shipped table as it is, byte for byte but for the day', () => {
    const text = readFileSync(shipped, 'utf8');
    writeFileSync(table, text);
    refresh(document(['m5.large', 3]));
    expect(readFileSync(table, 'utf8')).toBe(text.replace(/"asOf": "[^"]+"/, '"asOf": "2026-02-02"'));
  });
});
