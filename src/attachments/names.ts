import { createHash } from 'node:crypto';
import type { Ipv4 } from '../addresses/cidr.js';
import { addressToBytes } from '../addresses/cidr.js';
import { type Mac, macFromBytes } from '../addresses/mac.js';
import type { FormerLink } from '../steps/step.js';
import type { TaskId } from './task-id.js';

/** Twenty hex digits that stand for a task of this instance in every name and mark the service makes. */
export function taskHash(instance: string, taskId: TaskId): string {
  return createHash('sha256').update(`${instance}\0${taskId}`).digest('hex').slice(0, 20);
}

/** Name of the bridge's port for a task; IFNAMSIZ leaves 15 characters (linux/if.h). */
export function portName(hash: string): string {
  return `ve${hash.slice(0, 10)}`;
}

/** Name of the pause container, or of the namespace under /run/netns, that the service makes for a task. */
export function sandboxName(instance: string, hash: string): string {
  return `${instance}-${hash}`;
}

/** The mark that proves a link to be this instance's (IFLA_IFALIAS). */
export function linkAlias(instance: string, hash: string): string {
  return `te:${instance}:${hash}`;
}

/** The ENI's mark; it carries how the link was before, so that it can be brought home even when every record is lost. */
export function eniAlias(instance: string, hash: string, former: FormerLink): string {
  return `${linkAlias(instance, hash)}:${former.mtu},${former.txQueueLength},${former.flags},${former.name}`;
}

export interface Mark {
  readonly instance: string;
  readonly hash: string;
  readonly former: FormerLink | undefined;
}

/** Reads a mark; undefined for an alias that no instance of the service made. */
export function parseMark(alias: string): Mark | undefined {
  const match = /^te:([^:]+):([0-9a-f]{20})(?::(\d+),(\d+),(\d+),([^/:\s]{1,15}))?$/.exec(alias);
  if (match === null) return undefined;
  const [, instance = '', hash = '', mtu, txQueueLength, flags, name] = match;
  const former =
    name === undefined
      ? undefined
      : { name, mtu: Number(mtu), txQueueLength: Number(txQueueLength), flags: Number(flags) };
  return { instance, hash, former };
}

/** MAC of the task's end of the veth: derived from its address, so that an address handed out again is never answered by a stale neighbour entry of another MAC. */
export function linkLocalMac(address: Ipv4): Mac {
  return macFromBytes(Buffer.concat([Buffer.from([0x0a, 0x58]), addressToBytes(address)])) as Mac;
}
