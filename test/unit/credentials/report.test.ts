import { describe, expect, it } from 'vitest';
import { Counters } from '../../../src/credentials/server/counters.js';
import { durationBounds, formatReport, parseReport, reportLineLimit } from '../../../src/credentials/server/report.js';

function honest(): Record<string, unknown> {
  return { ...new Counters().take() };
}

describe('a report', () => {
  it('comes through as it was sent, and its counts start again', () => {
    const counters = new Counters();
    counters.answered(200, 0.00005);
    counters.answered(200, 0.004);
    counters.answered(429, 30);
    counters.dropAudit(3);
    counters.refuseConnection();
    counters.applied = 7;
    const report = parseReport(formatReport(counters.take()).trim());
    expect(report).toMatchObject({ applied: 7, requests: { 200: 2, 429: 1 }, auditDropped: 3, refusedConnections: 1 });
    expect(report?.durations[0]).toBe(1);
    expect(report?.durations[durationBounds.findIndex((bound) => bound === 0.005)]).toBe(1);
    expect(report?.durations.at(-1)).toBe(1);
    expect(report?.durationSum).toBeCloseTo(30.00405);
    expect(counters.take()).toMatchObject({ applied: 7, requests: {}, auditDropped: 0, durationSum: 0 });
  });

  it('fits a line when every counter is at its highest', () => {
    const requests = Object.fromEntries(
      [200, 400, 403, 404, 405, 408, 429, 431, 503].map((code) => [code, 10_000_000]),
    );
    const durations = Array.from({ length: durationBounds.length + 1 }, () => 10_000_000);
    const most = { ...honest(), applied: Number.MAX_SAFE_INTEGER, requests, durations };
    expect(parseReport(JSON.stringify(most))).toBeDefined();
    expect(JSON.stringify(most).length).toBeLessThan(reportLineLimit / 4);
  });

  it.each<[string, unknown]>([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a name that no report has', { ...honest(), secret: 1 }],
    ['a missing counter', { ...honest(), applied: undefined }],
    ['a negative count', { ...honest(), auditDropped: -1 }],
    ['a fraction', { ...honest(), applied: 1.5 }],
    ['a count beyond reason', { ...honest(), requests: { 200: 1e12 } }],
    ['text where a number is', { ...honest(), durationSum: '1' }],
    ['a code that is never answered', { ...honest(), requests: { 999: 1 } }],
    ['a code that is no number', { ...honest(), requests: { ['x'.repeat(10)]: 1 } }],
    ['codes as a list', { ...honest(), requests: [1, 2] }],
    ['too few buckets', { ...honest(), durations: [1] }],
    ['a bucket that holds a list', { ...honest(), durations: durationBounds.map(() => []) }],
  ])('is not taken with %s', (_, value) => {
    expect(parseReport(typeof value === 'string' ? value : JSON.stringify(value))).toBeUndefined();
  });
});
