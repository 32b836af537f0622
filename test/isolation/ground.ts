/** A host with two tasks and things that listen all around them, and how to knock at doors from anywhere. */
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Network } from '../lab/answers.js';
import { account } from '../lab/credentials.js';
import { HostNamespace } from '../lab/host-namespace.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

export const server = '169.254.170.2';
export const bridge = '169.254.172.1';
export const baitPort = 9999;
export const apiPort = 51680;
export const link = 'ecs-eth0';

const besides = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** A program for Python: see its head. */
export const rawFrames = readFileSync(besides('./raw-frames.py'), 'utf8');

export interface Door {
  readonly address: string;
  readonly port: number;
  /** Asks for it by HTTP when somebody opens. */
  readonly path?: string;
  /** The source address, which the namespace must have. */
  readonly from?: string;
}

export interface Frame {
  readonly from_mac: string;
  readonly to_mac: string;
  readonly from: string;
  readonly to: string;
  readonly from_port: number;
  readonly to_port: number;
}

export const altered = (frame: Frame, changes: Partial<Frame>): Frame => ({ ...frame, ...changes });

export type Segment = Omit<Frame, 'from_mac' | 'to_mac'> & { readonly flags: number };

export interface Task {
  readonly network: Network;
  readonly namespace: HostNamespace;
  /** Its link-local address. */
  readonly address: string;
  readonly mac: string;
  /** Where it fetches its credentials. */
  readonly door: Door;
}

export class Ground {
  private constructor(
    readonly lab: Lab,
    readonly service: ServiceProcess,
    readonly web: Task,
    readonly db: Task,
    readonly bridgeMac: string,
  ) {}

  static async lay(): Promise<Ground> {
    const lab = await Lab.create();
    try {
      const service = await lab.startService();
      const [web, db] = [await attach(lab, service, 'web'), await attach(lab, service, 'db')];
      for (const namespace of [lab.host, web.namespace, db.namespace]) await bait(namespace, baitPort);
      const [found] = await new HostNamespace(lab.id, lab.id).ip('link', 'show', 'dev', 'ecs-eni');
      return new Ground(lab, service, web, db, found?.address ?? '');
    } catch (error) {
      await lab.destroy();
      throw error;
    }
  }
}

async function attach(lab: Lab, service: ServiceProcess, id: string): Promise<Task> {
  const eni = await lab.createEni();
  const credentials = {
    source: 'pushed',
    roleArn: `arn:aws:iam::${account}:role/${id}`,
    accessKeyId: `AKIA${id.toUpperCase()}`.padEnd(20, '0'),
    secretAccessKey: `secret-of-${id}`,
    sessionToken: `token-of-${id}`,
    expiration: '2099-01-01T00:00:00Z',
  };
  const body = { eni: { id: eni.id }, credentials, dhcp: false };
  const { status, body: network } = await service.post(id, body);
  if (status !== 201) throw new Error(`${id}: ${status} ${JSON.stringify(network)}`);
  const namespace = new HostNamespace(basename(network.sandbox.netns), lab.id);
  const [own] = await namespace.ip('link', 'show', 'dev', link);
  const path = network.credentials.relativeUri;
  return {
    network,
    namespace,
    address: network.linkLocal.ipv4Address,
    mac: own?.address ?? '',
    door: { address: server, port: 80, path },
  };
}

/** Listens on every address of the namespace, or on one. */
export async function bait(namespace: HostNamespace, port: number, address = '::'): Promise<ChildProcess> {
  const child = namespace.start(process.execPath, [besides('./bait.mjs'), String(port), address], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

/** What became of each knock, in the order of the doors. */
export async function knock(namespace: HostNamespace, ...doors: Door[]): Promise<string[]> {
  const text = await namespace.run(process.execPath, besides('./knock.mjs'), JSON.stringify(doors));
  return JSON.parse(text) as string[];
}

/** As a container with Docker's default capabilities can: not root, and CAP_NET_RAW. */
const asContainer = [
  '--reuid=65534',
  '--regid=65534',
  '--clear-groups',
  '--bounding-set=-all,+net_raw',
  '--inh-caps=-all,+net_raw',
  '--ambient-caps=-all,+net_raw',
  '--no-new-privs',
];

/** Sends frames from within the task; what came in on its link afterwards. */
export async function sendRaw({ namespace }: Task, ...frames: Frame[]): Promise<Segment[]> {
  const python = ['/usr/bin/python3', '-c', rawFrames, link, '1', JSON.stringify(frames)];
  return heardBy(await namespace.run('setpriv', ...asContainer, ...python));
}

/** What comes in on the task's link while `work` is under way. */
export async function listenDuring({ namespace }: Task, work: () => Promise<unknown>): Promise<Segment[]> {
  const child = namespace.start('/usr/bin/python3', ['-c', rawFrames, link, '3', '[]'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'close');
  if (child.stdout) await once(child.stdout, 'data');
  await work();
  await ended;
  return heardBy(text);
}

/** What {@link rawFrames} has printed. */
export function heardBy(text: string): Segment[] {
  return JSON.parse(text.slice(text.indexOf('\n'))) as Segment[];
}
