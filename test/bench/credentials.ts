/**
 * Fetches of credentials, audit log on, beside the smallest node:http server with the same body in the same namespace:
 * throughput, latency at rest and while tasks are attached, processor time and memory. Run by
 * `node --import ./test/load-typescript.mjs test/bench/credentials.ts`; prints its result as JSON.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { account } from '../lab/credentials.js';
import { HostNamespace } from '../lab/host-namespace.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { type Memory, childOf, cpuSeconds, memory } from './process-cost.js';

const host = '169.254.170.2';
const rounds = 5;
const secondsEach = 3;
const connections = 32;
const steadyRate = 500;
const attachesAtOnce = 24;

interface Load {
  readonly codes: Record<string, number>;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface Measured extends Load {
  /** Processor milliseconds of the server for a thousand requests. */
  readonly cpu: number;
}

export interface CredentialsResult {
  readonly throughput: { readonly credentials: Measured[]; readonly smallest: Measured[]; readonly ratio: number };
  readonly cpuRatio: number;
  readonly steady: {
    readonly rest: Load;
    readonly attaching: Load;
    readonly p99Ratio: number;
    readonly attaches: number;
  };
  readonly memory: { readonly idle: Memory; readonly loaded: Memory };
}

interface Subject {
  readonly port: number;
  readonly path: string;
  readonly pid: number;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function load(task: HostNamespace, subject: Subject, options: object): Promise<Measured> {
  const { port, path, pid } = subject;
  const before = cpuSeconds(pid);
  const argument = JSON.stringify({ host, port, path, connections, ...options });
  const text = await task.run(process.execPath, inCheckout('test/bench/load.mjs'), argument);
  const result = JSON.parse(text) as Load;
  const requests = Object.values(result.codes).reduce((sum, count) => sum + count, 0);
  if (result.codes['200'] !== requests)
    throw new Error(`not every fetch was answered: ${JSON.stringify(result.codes)}`);
  return { ...result, cpu: ((cpuSeconds(pid) - before) * 1e6) / requests };
}

async function attach(service: ServiceProcess, id: string, eniId: string): Promise<Network> {
  const credentials = {
    source: 'pushed',
    roleArn: `arn:aws:iam::${account}:role/bench`,
    accessKeyId: 'ASIABENCH00000000000',
    secretAccessKey: 's'.repeat(40),
    sessionToken: 't'.repeat(900),
    expiration: '2099-01-01T00:00:00Z',
  };
  const { status, body } = await service.post(id, { eni: { id: eniId }, credentials });
  if (status !== 201) throw new Error(`${id}: ${status} ${body.detail}`);
  return body;
}

async function startSmallest(lab: Lab, body: string): Promise<Subject> {
  const bridge = new HostNamespace(lab.id, lab.id);
  const port = 81;
  const argument = JSON.stringify({ host, port, body });
  const child = bridge.start(process.execPath, [inCheckout('test/bench/smallest-server.mjs'), argument], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout !== null) await once(child.stdout, 'data');
  return { port, path: '/', pid: child.pid ?? 0 };
}

/** One after the other in turns, so that what else the machine does falls on both. */
async function compare(task: HostNamespace, credentials: Subject, smallest: Subject) {
  const options = { seconds: secondsEach };
  const results: { credentials: Measured[]; smallest: Measured[] } = { credentials: [], smallest: [] };
  for (let round = 0; round < rounds; round++) {
    results.credentials.push(await load(task, credentials, options));
    results.smallest.push(await load(task, smallest, options));
  }
  const of = (key: 'perSecond' | 'cpu', which: 'credentials' | 'smallest') =>
    median(results[which].map((each) => each[key]));
  return {
    throughput: { ...results, ratio: of('perSecond', 'credentials') / of('perSecond', 'smallest') },
    cpuRatio: of('cpu', 'credentials') / of('cpu', 'smallest'),
  };
}

/** Tasks come and go for as long as the load lasts, `attachesAtOnce` at a time. */
async function whileAttaching(lab: Lab, service: ServiceProcess, work: Promise<Measured>) {
  const enis = await Promise.all(Array.from({ length: attachesAtOnce }, () => lab.createEni()));
  const over = new AbortController();
  let attaches = 0;
  const turn = async () => {
    while (!over.signal.aborted) {
      await Promise.all(enis.map(({ id }, n) => attach(service, `churn-${n}`, id)));
      attaches += enis.length;
      await Promise.all(enis.map((_, n) => service.del(`churn-${n}`)));
    }
  };
  const turning = turn();
  const attaching = await work.finally(() => over.abort());
  await turning;
  return { attaching, attaches };
}

export async function benchCredentials(): Promise<CredentialsResult> {
  const lab = await Lab.create({ ipv6: false });
  try {
    const env = {
      TASK_ENI_CREDENTIALS_RATE: '900000,900000',
      TASK_ENI_DHCP_CLIENT: 'off',
      TASK_ENI_MAX_ENIS: '500',
      TASK_ENI_LOG_LEVEL: 'info',
    };
    const service = await lab.startService({ env });
    const pid = childOf(service.pid, 'credentials/server/main.js');
    const network = await attach(service, 'bench', (await lab.createEni()).id);
    const idle = memory(pid);
    const task = new HostNamespace(network.sandbox.netns.split('/').at(-1) ?? '', lab.id);
    const path = network.credentials.relativeUri;
    const smallest = await startSmallest(lab, await task.run('curl', '--silent', `http://${host}${path}`));
    const subject = { port: 80, path, pid };
    const compared = await compare(task, subject, smallest);
    const steady = { seconds: 10, perSecond: steadyRate };
    const rest = await load(task, subject, steady);
    const { attaching, attaches } = await whileAttaching(lab, service, load(task, subject, steady));
    const lines = readFileSync(`${lab.directory}/audit.log`, 'utf8').split('\n').length;
    if (lines < 10_000) throw new Error(`the audit log has only ${lines} lines`);
    return {
      ...compared,
      steady: { rest, attaching, p99Ratio: attaching.p99 / rest.p99, attaches },
      memory: { idle, loaded: memory(pid) },
    };
  } finally {
    await lab.destroy();
  }
}

if (process.argv[1] === inCheckout('test/bench/credentials.ts'))
  process.stdout.write(`${JSON.stringify(await benchCredentials(), undefined, 2)}\n`);
