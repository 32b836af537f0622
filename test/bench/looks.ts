/** What it costs to look after many tasks: the service compares records and host every few seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { nthIpv4, nthMac, vpc } from '../lab/vpc.js';
import { cpuSeconds } from './process-cost.js';

/** Seconds between two looks, as the service has it. */
const period = 3;
/** Seconds for which each state is watched. */
const watched = 10 * period;
/** So many links are on the host at a time: a listing of a thousand would be what the attaches are measured by. */
const batch = 50;
const atOnce = 4;

export interface LooksResult {
  readonly tasks: number;
  /** Milliseconds of processor time for each look, beyond what the service takes without a task. */
  readonly look: number;
  readonly perTask: number;
  /** Of one core, in percent. */
  readonly share: number;
  /** Milliseconds for which the event loop was held at the most. */
  readonly longestHold: number;
}

export async function measureLooks(tasks: number): Promise<LooksResult> {
  const lab = await Lab.create({ ipv6: false, name: 'bench of looks' });
  try {
    const env = { TASK_ENI_LOG_LEVEL: 'warn', TASK_ENI_DHCP_CLIENT: 'off' };
    const service = await lab.startService({ env });
    const idle = await watch(service);
    for (let first = 1; first <= tasks; first += batch)
      await attach(lab, service, first, Math.min(batch, tasks - first + 1));
    const busy = await watch(service);
    const seconds = busy.seconds - idle.seconds;
    const look = (seconds / (watched / period)) * 1000;
    return { tasks, look, perTask: look / tasks, share: (seconds / watched) * 100, longestHold: busy.longestHold };
  } finally {
    await lab.destroy();
  }
}

async function attach(lab: Lab, service: ServiceProcess, first: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => first + n);
  const mac = (n: number) => nthMac(200, n);
  const wire = (n: number) =>
    `link add w${n} mtu ${vpc.mtu} type veth peer name eni${n} address ${mac(n)} mtu ${vpc.mtu} netns ${lab.host.name}`;
  await lab.vpc.ipBatch(numbers.map(wire));
  const one = async (n: number) => {
    const eni = { macAddress: mac(n), ipv4Address: `${nthIpv4(n)}/${vpc.prefix}`, ipv4Gateway: vpc.gateway };
    const { status, body } = await service.post(`task-${n}`, { eni, dhcp: false });
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  };
  const worker = async () => {
    for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await one(n);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Processor seconds, and the longest hold of the event loop; a first scrape ends what was counted before. */
async function watch(service: ServiceProcess): Promise<{ seconds: number; longestHold: number }> {
  await sleep(period * 1000);
  await scrape(service);
  const before = cpuSeconds(service.pid);
  await sleep(watched * 1000);
  const seconds = cpuSeconds(service.pid) - before;
  return { seconds, longestHold: (await scrape(service)) * 1000 };
}

/** The longest delay of the event loop since the scrape before, in seconds (prom-client's own). */
async function scrape(service: ServiceProcess): Promise<number> {
  const { body } = await service.api<string>('GET', '/metrics');
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(body)?.[1]);
}
