import { pino } from 'pino';
import { Metrics } from '../../../src/metrics/metrics.js';
import type { Sources } from '../../../src/metrics/sources.js';

/** A host with a known limit and two tasks. */
export const quietHost: Sources = {
  slots: async () => ({ limit: 3, limitSource: 'table', limitCause: null, attached: 3, tasks: 2, available: 0 }),
  identity: () => ({
    instanceId: 'i-0abc',
    instanceType: 'm5.large',
    availabilityZone: 'us-west-2a',
    region: 'us-west-2',
    primaryMac: null,
  }),
  tasks: () => ['READY', 'READY', 'FAILED'],
  linkLocal: () => ({ capacity: 1021, allocated: 2 }),
  earliestExpiry: () => 1_800_000_000_500,
  dhcpClients: () => ['bound', 'bound', 'starting'],
  orphans: () => 1,
};

export function createMetrics(sources: Sources | null = quietHost): Metrics {
  const metrics = new Metrics('1.2.3', pino({ level: 'silent' }));
  if (sources !== null) metrics.setSources(sources);
  return metrics;
}

/** The samples of one scrape, each `name{label="value",…}` with its value. */
export async function samplesOf(metrics: Metrics): Promise<Map<string, number>> {
  const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** The samples whose name begins so, by name. */
export async function samplesFrom(metrics: Metrics, beginning: string): Promise<Record<string, number>> {
  return Object.fromEntries([...(await samplesOf(metrics))].filter(([name]) => name.startsWith(beginning)));
}
