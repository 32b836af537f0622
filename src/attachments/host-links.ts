import { setTimeout as sleep } from 'node:timers/promises';
import type { Mac } from '../addresses/mac.js';
import { TaskEniError } from '../errors.js';
import { findCandidates, findEni } from '../eni/eni-search.js';
import type { Link } from '../kernel/link-message.js';
import type { NetlinkSession } from '../kernel/netlink.js';

/** Milliseconds between two looks while somebody waits. */
const lookEvery = 100;

/**
 * The links in the host's namespace. The kernel finds no link by its MAC, so finding one means listing all, which takes
 * milliseconds of the main thread with hundreds of links: everybody who looks or waits at the same time shares one listing.
 */
export class HostLinks {
  private current: Promise<Link[]> | undefined;
  private next: Promise<Link[]> | undefined;
  private later: Promise<Link[]> | undefined;
  private last: readonly Link[] = [];

  constructor(private readonly session: Pick<NetlinkSession, 'links' | 'linkByIndex'>) {}

  /** A listing that begins no earlier than the call. */
  list(): Promise<Link[]> {
    if (this.current === undefined) {
      this.current = this.listAll().finally(() => {
        this.current = undefined;
      });
      return this.current;
    }
    this.next ??= Promise.allSettled([this.current]).then(() => {
      this.next = undefined;
      return this.list();
    });
    return this.next;
  }

  private async listAll(): Promise<Link[]> {
    const links = await this.session.links();
    this.last = links;
    return links;
  }

  /**
   * The link with that MAC, if it is there now; `unusable-eni` when two links bear it. Where the last listing had it, that
   * one link is asked for; all are listed only when it is not what it was.
   */
  async find(mac: Mac): Promise<Link | undefined> {
    const [seen, second] = findCandidates(this.last, mac);
    const link = seen && second === undefined ? await this.session.linkByIndex(seen.index) : undefined;
    return link !== undefined && findEni([link], mac) ? link : findEni(await this.list(), mac);
  }

  /**
   * The link with that MAC, waited for until `deadline` (on performance.now()). Throws `eni-timeout`, `unusable-eni` when
   * two links bear the MAC, or the signal's reason.
   */
  async waitFor(mac: Mac, deadline: number, signal: AbortSignal): Promise<Link> {
    for (let links = await this.list(); ; links = await this.listLater()) {
      signal.throwIfAborted();
      const link = findEni(links, mac);
      if (link !== undefined) return link;
      if (performance.now() >= deadline)
        throw new TaskEniError('eni-timeout', `no link with the MAC ${mac} appeared on the host`);
    }
  }

  private listLater(): Promise<Link[]> {
    this.later ??= sleep(lookEvery).then(() => {
      this.later = undefined;
      return this.list();
    });
    return this.later;
  }
}
