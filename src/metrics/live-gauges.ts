import { Gauge, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import type { State } from '../store/record.js';
import { type Sources, dhcpStates } from './sources.js';

/** A value for each set of labels; nothing at all for what is not known. */
type Reading = readonly { readonly labels?: Record<string, string>; readonly value: number }[];

interface LiveGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: (sources: Sources) => Reading | Promise<Reading>;
}

const states = ['PENDING', 'ATTACHING', 'READY', 'DETACHING', 'FAILED', 'LOST'] as const satisfies State[];

const known = (value: number | null): Reading => (value === null ? [] : [{ value }]);

/** One series for each name, whether or not anything bears it: a series that comes and goes cannot be alerted on. */
function tally(label: string, names: readonly string[], items: readonly string[]): Reading {
  return names.map((name) => ({ labels: { [label]: name }, value: items.filter((item) => item === name).length }));
}

async function hostInfo({ identity, slots }: Sources): Promise<Reading> {
  const { instanceId, instanceType, availabilityZone } = identity();
  const { limitSource } = await slots();
  const labels = {
    instance_id: instanceId ?? 'unknown',
    instance_type: instanceType ?? 'unknown',
    availability_zone: availabilityZone ?? 'unknown',
    limit_source: limitSource ?? 'unknown',
  };
  return [{ labels, value: 1 }];
}

const gauges: readonly LiveGauge[] = [
  {
    name: 'task_eni_eni_limit',
    help: 'ENIs that the host may have. Absent when not known.',
    read: async ({ slots }) => known((await slots()).limit),
  },
  {
    name: 'task_eni_eni_attached',
    help: 'ENIs that the host has, the primary one and those in tasks included. Absent when not known.',
    read: async ({ slots }) => known((await slots()).attached),
  },
  {
    name: 'task_eni_eni_available',
    help: 'ENIs that could still be attached to the host. Absent when not known.',
    read: async ({ slots }) => known((await slots()).available),
  },
  {
    name: 'task_eni_host_info',
    help: 'The host, as labels, and who says what its ENI limit is (setting, table, ec2).',
    labelNames: ['instance_id', 'instance_type', 'availability_zone', 'limit_source'],
    read: hostInfo,
  },
  {
    name: 'task_eni_tasks',
    help: 'Tasks by the state of their network; FAILED and LOST ones are kept for an hour.',
    labelNames: ['state'],
    read: ({ tasks }) => tally('state', states, tasks()),
  },
  {
    name: 'task_eni_link_local_addresses',
    help: 'Link-local addresses that can be given to tasks.',
    read: ({ linkLocal }) => [{ value: linkLocal().capacity }],
  },
  {
    name: 'task_eni_link_local_addresses_allocated',
    help: 'Link-local addresses that are not free: of tasks, and of what was left behind.',
    read: ({ linkLocal }) => [{ value: linkLocal().allocated }],
  },
  {
    name: 'task_eni_credentials_earliest_expiry_timestamp_seconds',
    help: "When the first of the tasks' credentials expires. Absent when no task has any.",
    read: ({ earliestExpiry }) => {
      const milliseconds = earliestExpiry();
      return known(milliseconds === null ? null : milliseconds / 1000);
    },
  },
  {
    name: 'task_eni_dhcp_clients',
    help: 'DHCP clients by state.',
    labelNames: ['state'],
    read: ({ dhcpClients }) => tally('state', dhcpStates, dhcpClients()),
  },
  {
    name: 'task_eni_orphans',
    help: 'Things on the host that bear the mark of this service and that no task accounts for.',
    read: ({ orphans }) => [{ value: orphans() }],
  },
];

/** Registers the gauges whose values are asked for at each scrape. One that cannot be had is absent from it, and costs no other. */
export function registerLiveGauges(registry: Registry, sources: () => Sources | undefined, logger: Logger): void {
  for (const { name, help, labelNames = [], read } of gauges) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect: async () => show(gauge, labelNames, await readSafely(name, read, sources(), logger)),
    });
  }
}

async function readSafely(
  name: string,
  read: LiveGauge['read'],
  sources: Sources | undefined,
  logger: Logger,
): Promise<Reading> {
  if (sources === undefined) return [];
  try {
    return await read(sources);
  } catch (error) {
    logger.warn({ metric: name, reason: describeError(error) }, 'a metric could not be read');
    return [];
  }
}

/** Replaces all series at once, with nothing in between that another scrape could see. */
function show(gauge: Gauge, labelNames: readonly string[], reading: Reading): void {
  gauge.reset();
  // prom-client gives a gauge without labels the value 0 at a reset: that would be a lie about what is not known.
  if (labelNames.length === 0) gauge.remove();
  for (const { labels = {}, value } of reading) gauge.set(labels, value);
}
