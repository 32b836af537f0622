import { pino } from 'pino';
import { expect, it } from 'vitest';
import { LostAudit } from '../../../src/credentials/lost-audit.js';

it('lost audit lines are told at once and then once a minute, all of them', () => {
  const told: number[] = [];
  let now = 0;
  const logger = pino({}, { write: (line: string) => told.push((JSON.parse(line) as { lines: number }).lines) });
  const lost = new LostAudit(logger, () => now);
  lost.add(0);
  expect(told).toEqual([]);
  for (; now < 120_000; now += 1000) lost.add(2);
  expect(told).toEqual([2, 122]);
  lost.add(0);
  expect(told).toEqual([2, 122]);
});
