import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Ipv4, Ipv6 } from '../addresses/cidr.js';
import { dhclientFiles, parseLeaseFile } from './dhclient.js';
import { type ClientState, type Family, type FamilyLease, type Grant, leaseState, nextLook } from './lease.js';

export interface WatchedLease {
  readonly hash: string;
  readonly family: Family;
  /** The ENI's own address, which the lease should name. */
  readonly address: Ipv4 | Ipv6;
}

export interface LeaseListener {
  /** The state or the end of the lease is another. */
  changed(): void;
  /** The server leases an address that is not the ENI's. */
  mismatched(): void;
}

/**
 * Knows the newest lease of one client, and tells when it is new or time has made it another state. It looks at the times that
 * the lease itself names rather than by inotify, whose instances busy hosts run out of (fs.inotify.max_user_instances).
 */
export class LeaseWatch {
  private told: FamilyLease = { state: 'starting', grant: undefined };
  private strangeAddresses = '';
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private grantedAt = 0;
  private readonly startedAt = Date.now();

  constructor(
    private readonly watched: WatchedLease,
    /** Whether the client cannot be kept running, given when the newest lease was first seen. */
    private readonly failing: (grantedAt: number) => boolean,
    private readonly listener: LeaseListener,
    private readonly log: Logger,
  ) {}

  get lease(): FamilyLease {
    return this.told;
  }

  /** Begins to look, or looks now rather than later. */
  look(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.lookAgain(), 0);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async lookAgain(): Promise<void> {
    const read = await this.read();
    if (this.stopped) return;
    // The client truncates the file before it writes it anew: for that moment the lease known so far still holds.
    const grant = read ?? this.told.grant;
    if (grant?.expiresAt !== this.told.grant?.expiresAt) this.grantedAt = Date.now();
    this.tell({ state: leaseState(grant, this.failing(this.grantedAt), Date.now()), grant });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.lookAgain(), nextLook(grant, this.startedAt, Date.now()));
  }

  private async read(): Promise<Grant | undefined> {
    const { hash, family } = this.watched;
    try {
      return parseLeaseFile(await readFile(dhclientFiles(hash, family).leases, 'utf8'), family);
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!missing) this.log.warn({ err: error }, 'the lease file cannot be read');
      return undefined;
    }
  }

  private tell(lease: FamilyLease): void {
    const former = this.told;
    this.told = lease;
    if (lease.state !== former.state) this.logState(lease);
    if (lease.grant !== undefined) this.checkAddress(lease.grant);
    if (lease.state !== former.state || lease.grant?.expiresAt !== former.grant?.expiresAt) this.listener.changed();
  }

  private logState({ state, grant }: FamilyLease): void {
    const lease = { state, addresses: grant?.addresses, expiresAt: describeTime(grant?.expiresAt) };
    if (state === 'expired') this.log.warn(lease, 'the lease has expired; the address is static and stays');
    else if (state === 'failed') this.log.error(lease, 'the DHCP client cannot be kept running');
    else this.log.info(lease, messages[state]);
  }

  private checkAddress(grant: Grant): void {
    const { address } = this.watched;
    const strange = grant.addresses.includes(address) ? '' : grant.addresses.join(' ');
    if (strange !== '' && strange !== this.strangeAddresses) {
      this.log.warn({ leased: grant.addresses, address }, 'the lease names another address; the ENI keeps its own');
      this.listener.mismatched();
    }
    this.strangeAddresses = strange;
  }
}

const messages: Readonly<Record<Exclude<ClientState, 'expired' | 'failed'>, string>> = {
  starting: 'a lease is asked for',
  bound: 'the lease is bound',
  renewing: 'the lease has not been renewed in time; the client goes on asking',
};

function describeTime(time: number | undefined): string | undefined {
  return time === undefined || !Number.isFinite(time) ? undefined : new Date(time).toISOString();
}
