/** The credentials server as tasks see it: beside the smallest server there can be, at rest and while tasks start. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { account } from '../lab/credentials.js';
import type { Eni } from '../lab/eni.js';
import { HostNamespace } from '../lab/host-namespace.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service.js';
import { inCheckout } from '../lab/checkout.js';
import { childrenOf, memoryOf } from '../credentials/running-server.js';
import { quantile } from './statistics.js';

const server = '169.254.170.2';
const smallestPort = 8080;
const rate = 500;
const attaches = 24;
/** Rounds of each contestant in turn, of which the median counts. */
const rounds = 5;

interface Fetched {
  readonly codes: Readonly<Record<string, number>>;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface CredentialsResult {
  readonly closed: readonly (Fetched & { name: string })[];
  /** Throughput as a part of the smallest server's. */
  readonly ofSmallest: number;
  readonly rate: number;
  readonly open: readonly (Fetched & { name: string })[];
  /** How many times p99 at rest it was while attaches ran. */
  readonly underAttaches: number;
  readonly attaches: number;
  readonly memory: readonly { name: string; rss: number; pss: number }[];
}

export async function measureCredentials(seconds: number): Promise<CredentialsResult> {
  const lab = await Lab.create({ ipv6: false, name: 'bench of credentials' });
  try {
    const env = {
      TASK_ENI_LOG_LEVEL: 'info',
      TASK_ENI_DHCP_CLIENT: 'off',
      TASK_ENI_CREDENTIALS_RATE: '1000000,1000000',
    };
    const service = await lab.startService({ env });
    const task = await attachTask(lab, service);
    const pid = serverPid(service);
    const idle = mebibytes('idle', pid);
    await startSmallest(lab, task.body);
    process.stderr.write('credentials: throughput ...\n');
    const closed = await throughput(task);
    const loaded = mebibytes('after load', pid);
    process.stderr.write(`credentials: ${rate} a second, at rest and during ${attaches} attaches ...\n`);
    const open = await fixedRate(lab, service, task, seconds);
    const [product, smallest] = closed;
    const [rest, busy] = open;
    return {
      closed,
      ofSmallest: (product?.perSecond ?? 0) / (smallest?.perSecond ?? 1),
      rate,
      open,
      underAttaches: (busy?.p99 ?? 0) / (rest?.p99 ?? 1),
      attaches,
      memory: [idle, loaded, mebibytes('in the end', pid)],
    };
  } finally {
    await lab.destroy();
  }
}

interface Task {
  readonly namespace: HostNamespace;
  readonly path: string;
  /** The answer to a fetch. */
  readonly body: string;
}

async function attachTask(lab: Lab, service: ServiceProcess): Promise<Task> {
  const eni = await lab.createEni();
  const credentials = {
    source: 'pushed',
    roleArn: `arn:aws:iam::${account}:role/bench`,
    accessKeyId: 'AKIABENCH00000000000',
    secretAccessKey: 'b'.repeat(40),
    // As long as those of STS.
    sessionToken: 't'.repeat(900),
    expiration: '2099-01-01T00:00:00Z',
  };
  const { status, body: network } = await service.post('bench', { eni: { id: eni.id }, credentials, dhcp: false });
  if (status !== 201) throw new Error(`attach: ${status} ${JSON.stringify(network)}`);
  const namespace = new HostNamespace(basename(network.sandbox.netns), lab.id);
  const path = network.credentials.relativeUri;
  return { namespace, path, body: await namespace.run('curl', '-sf', `http://${server}${path}`) };
}

/** node:http with the same answer, in the namespace in which the credentials server is. */
async function startSmallest(lab: Lab, body: string): Promise<void> {
  const program = `
    const body = Buffer.from(process.argv[1]);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    require('node:http').createServer((_, response) => response.writeHead(200, headers).end(body))
      .listen(${smallestPort}, '${server}', () => console.log('listening'));`;
  const child = new HostNamespace(lab.id, lab.id).start(process.execPath, ['-e', program, body], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout) await once(child.stdout, 'data');
}

async function fetchIn({ namespace, path }: Task, port: number, how: Record<string, unknown>): Promise<Fetched> {
  const options = JSON.stringify({ url: `http://${server}:${port}${path}`, keepAlive: true, ...how });
  const client = inCheckout('test/credentials/clients/fetch-many.mjs');
  return JSON.parse(await namespace.run(process.execPath, client, options)) as Fetched;
}

async function throughput(task: Task): Promise<(Fetched & { name: string })[]> {
  const contestants = [
    { name: 'credentials server', port: 80, runs: [] as Fetched[] },
    { name: 'smallest node:http server', port: smallestPort, runs: [] as Fetched[] },
  ];
  for (let round = 0; round <= rounds; round++)
    for (const { port, runs } of contestants) {
      const fetched = await fetchIn(task, port, { count: 10_000, parallel: 16 });
      if (round > 0) runs.push(fetched);
    }
  return contestants.map(({ name, runs }) => ({ name, ...middle(runs) }));
}

/** The run with the median throughput. */
function middle(runs: readonly Fetched[]): Fetched {
  const median = quantile(
    runs.map(({ perSecond }) => perSecond),
    0.5,
  );
  return runs.find(({ perSecond }) => perSecond === median) as Fetched;
}

async function fixedRate(
  lab: Lab,
  service: ServiceProcess,
  task: Task,
  seconds: number,
): Promise<(Fetched & { name: string })[]> {
  const enis = await Promise.all(Array.from({ length: attaches }, () => lab.createEni()));
  const rest = await fetchIn(task, 80, { perSecond: rate, seconds });
  let over = false;
  const busy = fetchIn(task, 80, { perSecond: rate, seconds }).finally(() => (over = true));
  while (!over) await attachAndDetach(service, enis);
  return [
    { name: 'at rest', ...rest },
    { name: `while ${attaches} tasks start and stop`, ...(await busy) },
  ];
}

async function attachAndDetach(service: ServiceProcess, enis: readonly Eni[]): Promise<void> {
  await Promise.all(
    enis.map(({ id, deviceNumber }) => service.post(`busy-${deviceNumber}`, { eni: { id }, dhcp: false })),
  );
  await Promise.all(enis.map(({ deviceNumber }) => service.del(`busy-${deviceNumber}`)));
}

function serverPid(service: ServiceProcess): number {
  const pid = childrenOf(service.pid).find((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('server/main'),
  );
  if (pid === undefined) throw new Error('the service has no credentials server');
  return pid;
}

function mebibytes(name: string, pid: number): { name: string; rss: number; pss: number } {
  const { rss, pss } = memoryOf(pid);
  return { name, rss: rss / 1024, pss: pss / 1024 };
}
