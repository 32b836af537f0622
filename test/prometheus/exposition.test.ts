import { describe, expect, it } from 'vitest';
import type { Metrics } from '../../src/metrics/metrics.js';
import { createMetrics } from '../unit/metrics/exposition.js';
import { promtool } from './promtool.js';

/** Name, type and labels of each metric, as agents and dashboards know them. */
const named: readonly (readonly [string, string, ...string[]])[] = [
  ['eni_limit', 'gauge'],
  ['eni_attached', 'gauge'],
  ['eni_available', 'gauge'],
  ['host_info', 'gauge', 'instance_id', 'instance_type', 'availability_zone', 'limit_source'],
  ['tasks', 'gauge', 'state'],
  ['attach_duration_seconds', 'histogram', 'outcome'],
  ['detach_duration_seconds', 'histogram', 'outcome'],
  ['step_duration_seconds', 'histogram', 'step', 'outcome'],
  ['attach_failures_total', 'counter', 'code'],
  ['undo_failures_total', 'counter', 'step'],
  ['link_local_addresses', 'gauge'],
  ['link_local_addresses_allocated', 'gauge'],
  ['credentials_requests_total', 'counter', 'code'],
  ['credentials_request_duration_seconds', 'histogram'],
  ['credentials_connections_refused_total', 'counter'],
  ['credentials_audit_lines_lost_total', 'counter'],
  ['credentials_refresh_total', 'counter', 'outcome'],
  ['credentials_earliest_expiry_timestamp_seconds', 'gauge'],
  ['dhcp_clients', 'gauge', 'state'],
  ['dhcp_mismatches_total', 'counter'],
  ['reconcile_actions_total', 'counter', 'action'],
  ['orphans', 'gauge'],
  ['build_info', 'gauge', 'version', 'node'],
];

/** A service in which everything has happened once. */
function busy(): Metrics {
  const metrics = createMetrics();
  metrics.attachEnded(null, 0.02);
  metrics.attachEnded('eni-timeout', 180);
  metrics.detachEnded(true, 0.02);
  metrics.stepEnded('move-eni', 'done', 0.017);
  metrics.undoFailed('move-eni');
  metrics.credentialsRefreshed(true);
  metrics.reconciled('adopt');
  return metrics;
}

/** The label names of a metric's samples, `le` left out. */
function labelsOf(text: string, name: string): string[] {
  const sample = new RegExp(`^${name}(?:_bucket)?\\{([^}]*)\\}`, 'm').exec(text)?.[1] ?? '';
  return [...sample.matchAll(/(\w+)="/g)].map(([, label]) => String(label)).filter((label) => label !== 'le');
}

describe('the text that Prometheus reads', () => {
  it('has no fault that promtool finds', async () => {
    promtool(['check', 'metrics'], await busy().registry.metrics());
  });

  it.each(named)('has task_eni_%s, a %s', async (name, type, ...labels) => {
    const text = await busy().registry.metrics();
    expect(text).toContain(`\n# TYPE task_eni_${name} ${type}\n`);
    expect(labelsOf(text, `task_eni_${name}`).sort()).toEqual([...labels].sort());
  });

  it('has no metric of the service beyond these', async () => {
    const text = await busy().registry.metrics();
    const found = [...text.matchAll(/^# TYPE task_eni_(\S+)/gm)].map(([, name]) => name);
    expect(new Set(found)).toEqual(new Set(named.map(([name]) => name)));
  });

  it("has the process's and Node's figures", async () => {
    const text = await busy().registry.metrics();
    for (const name of ['process_cpu_seconds_total', 'process_open_fds', 'nodejs_heap_size_used_bytes'])
      expect(text).toMatch(new RegExp(`^${name} `, 'm'));
  });
});
