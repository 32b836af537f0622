import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import type { Lab } from '../lab/lab.js';
import { hasCode } from '../lab/lab-id.js';
import type { ServiceProcess } from '../lab/service-process.js';
import type { Host } from '../lab/answers.js';
import { Inside } from './inside.js';

/** Everything of a service and its tasks that must be as before once the tasks are gone. */
export interface Footprint {
  /** How many descriptors of each kind the service has, e.g. `netlink` or `pipe`. */
  readonly descriptors: Record<string, number>;
  readonly namespaces: readonly string[];
  readonly bridgePorts: readonly string[];
  readonly allocated: number;
  readonly children: number;
}

export async function footprintOf(lab: Lab, service: ServiceProcess): Promise<Footprint> {
  const bridge = new Inside(`/run/netns/${lab.id}`);
  const { body } = await service.api<Host>('GET', '/host');
  return {
    descriptors: descriptorsOf(service.pid),
    namespaces: readdirSync('/run/netns').filter((name) => name.startsWith(`${lab.id}-`) || name === lab.id),
    bridgePorts: (await bridge.links()).flatMap(({ ifname }) => (ifname.startsWith('ve') ? [ifname] : [])),
    allocated: body.linkLocal.allocated,
    children: childrenOf(service.pid).length,
  };
}

function descriptorsOf(pid: number): Record<string, number> {
  const sockets = socketsAtHome(pid);
  const counts: Record<string, number> = {};
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    const target = readlinkIfThere(`/proc/${pid}/fd/${descriptor}`) ?? '';
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    const kind = inode === undefined ? target.replace(/:?\[\d+\]$/, '') : (sockets.get(inode) ?? 'socket elsewhere');
    // Connections to the API and to instance metadata are kept for a while and dropped in their own time.
    if (kind !== '' && kind !== 'connection' && kind !== 'tcp') counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** The sockets of the namespace that the service is in, by inode; the inode's column differs from file to file. */
function socketsAtHome(pid: number): Map<string, string> {
  const files = [
    [`/proc/${pid}/net/tcp`, 'tcp', 9],
    [`/proc/${pid}/net/tcp6`, 'tcp', 9],
    [`/proc/${pid}/net/netlink`, 'netlink', 9],
    [`/proc/${pid}/net/unix`, 'unix', 6],
    // An accepted connection is listed where the one who connected is: here.
    ['/proc/self/net/unix', 'unix', 6],
  ] as const;
  const found = files.flatMap(([file, kind, column]) => {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
    return lines.map((line) => {
      const words = line.trim().split(/\s+/);
      return [words[column] ?? '', isApiConnection(words) ? 'connection' : kind] as const;
    });
  });
  return new Map(found);
}

/** Of a line of /proc/net/unix: connected (SS_CONNECTED, linux/net.h), and accepted by a listener, whose path it shows. */
function isApiConnection(words: readonly string[]): boolean {
  return words[5] === '03' && words[7] !== undefined;
}

function readlinkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Process ids, zombies among them. */
export function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** The network namespaces that the service's threads are in. */
export function threadNamespacesOf(pid: number): Set<string> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Set(threads.flatMap((thread) => readlinkIfThere(`/proc/${pid}/task/${thread}/ns/net`) ?? []));
}

/** Resident memory, in MiB. */
export function memoryOf(pid: number): number {
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}
