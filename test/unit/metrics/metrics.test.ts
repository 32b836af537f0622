import { describe, expect, it } from 'vitest';
import { durationBounds } from '../../../src/credentials/server/report.js';
import { createMetrics, samplesFrom, samplesOf } from './exposition.js';

const attach = 'task_eni_attach_duration_seconds';

describe('attaches', () => {
  it('of 20 ms, of 12 s and of 90 s are told apart', async () => {
    const metrics = createMetrics();
    for (const seconds of [0.0199, 12, 89.9]) metrics.attachEnded(null, seconds);
    const samples = await samplesOf(metrics);
    const below = (le: string) => samples.get(`${attach}_bucket{le="${le}",outcome="success"}`);
    expect([below('0.015'), below('0.02'), below('10'), below('15'), below('60'), below('90')]).toEqual([
      0, 1, 1, 2, 2, 3,
    ]);
    expect(samples.get(`${attach}_count{outcome="success"}`)).toBe(3);
    expect(samples.get(`${attach}_sum{outcome="success"}`)).toBeCloseTo(101.9199);
  });

  it('can be seen up to two minutes and more', async () => {
    const metrics = createMetrics();
    metrics.attachEnded(null, 119);
    const samples = await samplesOf(metrics);
    expect(samples.get(`${attach}_bucket{le="90",outcome="success"}`)).toBe(0);
    expect(samples.get(`${attach}_bucket{le="120",outcome="success"}`)).toBe(1);
  });

  it('that fail are counted by code, and those that were cancelled are no failures', async () => {
    const metrics = createMetrics();
    metrics.attachEnded('eni-timeout', 180);
    metrics.attachEnded('cancelled', 1);
    const samples = await samplesOf(metrics);
    expect(samples.get(`${attach}_count{outcome="failure"}`)).toBe(1);
    expect(samples.get(`${attach}_count{outcome="cancelled"}`)).toBe(1);
    expect(samples.get('task_eni_attach_failures_total{code="eni-timeout"}')).toBe(1);
    expect(samples.get('task_eni_attach_failures_total{code="step-failed"}')).toBe(0);
  });
});

describe('events', () => {
  it('are counted by what they are', async () => {
    const metrics = createMetrics();
    metrics.detachEnded(true, 0.02);
    metrics.detachEnded(false, 0.02);
    metrics.stepEnded('wait-for-eni', 'done', 12);
    metrics.undoFailed('move-eni');
    metrics.credentialsRefreshed(true);
    metrics.credentialsRefreshed(false);
    metrics.reconciled('release');
    metrics.dhcpMismatched();
    const samples = await samplesOf(metrics);
    for (const name of [
      'task_eni_detach_duration_seconds_count{outcome="success"}',
      'task_eni_detach_duration_seconds_count{outcome="failure"}',
      'task_eni_step_duration_seconds_count{step="wait-for-eni",outcome="done"}',
      'task_eni_undo_failures_total{step="move-eni"}',
      'task_eni_credentials_refresh_total{outcome="success"}',
      'task_eni_credentials_refresh_total{outcome="failure"}',
      'task_eni_reconcile_actions_total{action="release"}',
      'task_eni_dhcp_mismatches_total',
    ])
      expect(samples.get(name), name).toBe(1);
    expect(samples.get('task_eni_step_duration_seconds_bucket{le="10",step="wait-for-eni",outcome="done"}')).toBe(0);
    expect(samples.get('task_eni_step_duration_seconds_bucket{le="15",step="wait-for-eni",outcome="done"}')).toBe(1);
  });
});

describe("the credentials process's figures", () => {
  const durations = durationBounds.map((_, index) => index).concat(100);

  const quiet = { requests: {}, durations, durationSum: 0.25, auditDropped: 0, refusedConnections: 0 };

  it('are added up exactly, report by report', async () => {
    const metrics = createMetrics();
    metrics.credentialsReported({ ...quiet, requests: { 200: 5, 403: 1 } });
    metrics.credentialsReported({ ...quiet, requests: { 200: 2 }, durationSum: 0.5 });
    const samples = await samplesFrom(metrics, 'task_eni_credentials_request');
    expect(samples['task_eni_credentials_requests_total{code="200"}']).toBe(7);
    expect(samples['task_eni_credentials_requests_total{code="403"}']).toBe(1);
    expect(samples['task_eni_credentials_requests_total{code="429"}']).toBe(0);
    const name = 'task_eni_credentials_request_duration_seconds';
    expect(samples[`${name}_bucket{le="0.0001"}`]).toBe(0);
    expect(samples[`${name}_bucket{le="0.00025"}`]).toBe(2);
    expect(samples[`${name}_bucket{le="0.0005"}`]).toBe(6);
    expect(samples[`${name}_bucket{le="1"}`]).toBe(90);
    expect(samples[`${name}_bucket{le="+Inf"}`]).toBe(290);
    expect(samples[`${name}_count`]).toBe(290);
    expect(samples[`${name}_sum`]).toBe(0.75);
  });

  it('tell what was not taken: connections beyond the limit, and lines that the audit log lacks', async () => {
    const metrics = createMetrics();
    const taken = async () => {
      const samples = await samplesOf(metrics);
      return ['connections_refused', 'audit_lines_lost'].map((name) =>
        samples.get(`task_eni_credentials_${name}_total`),
      );
    };
    expect(await taken()).toEqual([0, 0]);
    metrics.credentialsReported({ ...quiet, refusedConnections: 7, auditDropped: 3 });
    metrics.credentialsReported({ ...quiet, refusedConnections: 1 });
    expect(await taken()).toEqual([8, 3]);
  });

  it('are refused when they do not fit the buckets', () => {
    const metrics = createMetrics();
    expect(() => metrics.credentialsReported({ ...quiet, durations: [1] })).toThrow('buckets');
  });
});

describe('the registry', () => {
  it('has no more series after 500 tasks than after 5, and none that names a task', async () => {
    const metrics = createMetrics();
    const attachOnce = () => {
      metrics.attachEnded(null, 0.02);
      for (const step of ['wait-for-eni', 'move-eni'] as const) metrics.stepEnded(step, 'done', 0.02);
      metrics.detachEnded(true, 0.02);
    };
    const series = async () => [...(await samplesOf(metrics)).keys()].filter((name) => name.startsWith('task_eni_'));
    for (let task = 0; task < 5; task += 1) attachOnce();
    const before = await series();
    for (let task = 0; task < 495; task += 1) attachOnce();
    expect(await series()).toEqual(before);
  });

  it('can be made again in the same process, and each counts for itself', async () => {
    const first = createMetrics();
    const second = createMetrics();
    first.attachEnded(null, 1);
    const name = `${attach}_count{outcome="success"}`;
    expect((await samplesOf(first)).get(name)).toBe(1);
    expect((await samplesOf(second)).get(name)).toBe(0);
    for (const metrics of [first, second])
      expect((await samplesOf(metrics)).has('nodejs_eventloop_lag_seconds')).toBe(true);
  });

  it('still counts with default labels set and after two scrapes', async () => {
    const metrics = createMetrics();
    metrics.registry.setDefaultLabels({ cluster: 'a' });
    const name = `${attach}_count{cluster="a",outcome="success"}`;
    metrics.attachEnded(null, 1);
    expect((await samplesOf(metrics)).get(name)).toBe(1);
    metrics.attachEnded(null, 1);
    expect((await samplesOf(metrics)).get(name)).toBe(2);
  });
});
