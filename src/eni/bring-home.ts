/** The ENI's way back to the host, from wherever and however the task left it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Mac } from '../addresses/mac.js';
import { ignoring, isErrno } from '../kernel/errno.js';
import { type Link, type LinkChange, linkFlags } from '../kernel/link-message.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import type { FormerLink } from '../steps/step.js';
import { makeBare } from './host-config.js';
import { type EniIdentity, findAtHome, findInTask, stackedOn } from './eni-search.js';

/** One side of the way: an open namespace and rtnetlink in it. */
export interface Side {
  readonly namespace: Namespace;
  readonly session: NetlinkSession;
}

export interface WayHome {
  /** undefined: the task's namespace is gone. */
  readonly task: Side | undefined;
  readonly host: Side;
  readonly identity: EniIdentity;
  /** How the link was before the attach. */
  readonly former: FormerLink;
  /** It is known to have been in the task: then it is restored at home even without its mark, which the task may have taken off. */
  readonly wasMoved: boolean;
}

/** Takes a free number at the moment of the move, when the link's own name and its former one are both taken. */
const freeName = 'eni%d';

/** Milliseconds that an ENI whose namespace ended may take to come home. */
const arrivalPatience = 3_000;

/** Flags that a link takes along from one namespace to the next. */
const lastingFlags = linkFlags.noArp | linkFlags.promiscuous | linkFlags.allMulticast;

/** What to set so that the link is as it was, down and without our mark; what is right already is not touched. */
export function homeChange(link: Link, former: FormerLink, mac: Mac): LinkChange {
  const flagsDiffer = (link.flags & lastingFlags) !== (former.flags & lastingFlags);
  return {
    up: false,
    alias: '',
    // Not every driver can set an address, not even the one it has (ena cannot).
    ...(link.mac === mac ? {} : { mac }),
    ...(link.mtu === former.mtu ? {} : { mtu: former.mtu }),
    ...(link.txQueueLength === former.txQueueLength ? {} : { txQueueLength: former.txQueueLength }),
    ...(flagsDiffer ? { flags: { mask: lastingFlags, value: former.flags & lastingFlags } } : {}),
  };
}

/**
 * Brings the ENI home: down, bare, unmarked, as it was before the attach, under its former name or a free one.
 * Undefined when it is neither in the task nor at home. May be called again at any time, also for one that is home.
 */
export async function bringHome(way: WayHome): Promise<Link | undefined> {
  const left = await leaveTask(way);
  if (left.restored !== undefined) return left.restored;
  const link = await arrival(way);
  if (link === undefined) return undefined;
  // One that never left is the host's to configure: an attach that failed earlier must not take it down.
  const ours = left.moved || way.wasMoved || link.alias === way.identity.alias;
  return ours ? restore(way, link) : link;
}

/**
 * The ENI at home. A physical link whose namespace ended comes there by itself, in the kernel's own time
 * (default_device_exit_net, net/core/dev.c).
 */
async function arrival({ task, host, identity, wasMoved }: WayHome): Promise<Link | undefined> {
  const onItsWay = task === undefined && wasMoved && identity.kind === null;
  const deadline = Date.now() + (onItsWay ? arrivalPatience : 0);
  for (;;) {
    const link = findAtHome(await host.session.links(), identity);
    if (link !== undefined || Date.now() >= deadline) return link;
    await sleep(50);
  }
}

interface Left {
  /** It was in the task, and has left it. */
  readonly moved: boolean;
  /** It is at home under its former name, and all is restored. */
  readonly restored?: Link | undefined;
}

/** Moves it home if it is in the task. */
async function leaveTask({ task, host, identity, former }: WayHome): Promise<Left> {
  if (task === undefined) return { moved: false };
  const links = await task.session.links();
  const link = findInTask(links, identity);
  if (link === undefined) return { moved: false };
  await detach(task.session, link, links);
  const change = homeChange(link, former, identity.mac);
  try {
    await task.session.moveLink(link.index, host.namespace, { ...change, name: former.name });
  } catch (error) {
    if (isErrno(error, 'ENODEV')) return { moved: true };
    // The kernel moves first and makes the other changes then: an error does not tell where the link is.
    if ((await task.session.linkByIndex(link.index)) === undefined) return { moved: true };
    if (!isErrno(error, 'EEXIST')) throw error;
    await task.session.moveLink(link.index, host.namespace, { alias: '', up: false, name: freeName });
    return { moved: true };
  }
  const home = await host.session.linkByName(former.name);
  return { moved: true, restored: home !== undefined && home.mac === identity.mac ? home : undefined };
}

/**
 * Loosens what the task may have tied to the link: its other names (one that is taken at home makes every move fail), links
 * stacked on it (they would go on using it from inside the task), the bridge or bond it was put into.
 */
async function detach(session: NetlinkSession, link: Link, links: readonly Link[]): Promise<void> {
  for (const upper of stackedOn(link, links)) await session.deleteLink(upper.index).catch(ignoring('ENODEV'));
  const gone = ignoring('ENODEV', 'ENOENT');
  if (link.altNames.length > 0) await session.deleteAltNames(link.index, link.altNames).catch(gone);
  const { master } = link;
  await session.setLink(link.index, { up: false, ...(master === undefined ? {} : { master: 0 }) }).catch(gone);
}

/** Sets each thing by itself, so that one which the driver refuses does not cost the others; throws the first refusal. */
async function restore({ host, former, identity }: WayHome, link: Link): Promise<Link> {
  const { session } = host;
  const { index } = link;
  const { up: _, ...values } = homeChange(link, former, identity.mac);
  if (link.master !== undefined) await session.setLink(index, { master: 0 });
  await makeBare(session, index, await session.addresses(index));
  const changes: LinkChange[] = Object.entries(values).map(([field, value]) => ({ [field]: value }));
  const results = await Promise.allSettled(changes.map((change) => session.setLink(index, change)));
  if (link.name !== former.name) await session.setLink(index, { name: former.name }).catch(ignoring('EEXIST'));
  const refused = results.find((result) => result.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
  return (await session.linkByIndex(index)) ?? link;
}
