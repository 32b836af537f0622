import type { Ipv4, Ipv6 } from '../addresses/cidr.js';

export type Family = 4 | 6;

/** Of one client. */
export type ClientState = 'starting' | 'bound' | 'renewing' | 'expired' | 'failed';
export type LeaseState = ClientState | 'off';

/** What a task's caller is told of its leases. */
export interface Lease {
  readonly client: 'dhclient' | null;
  readonly state: LeaseState;
  /** Milliseconds since the epoch; null when there is no lease, or one that does not end. */
  readonly expiresAt: number | null;
}

/** What a server granted. Times are milliseconds since the epoch; a lease without an end has Infinity. */
export interface Grant {
  readonly addresses: readonly (Ipv4 | Ipv6)[];
  readonly renewsAt: number;
  readonly expiresAt: number;
}

export interface FamilyLease {
  readonly state: ClientState;
  readonly grant: Grant | undefined;
}

/**
 * The state of one client. It follows from the newest grant and the clock alone, so nothing can be missed between two looks;
 * `failing` says that the client cannot be kept running.
 */
export function leaseState(grant: Grant | undefined, failing: boolean, now: number): ClientState {
  if (failing) return 'failed';
  if (grant === undefined) return 'starting';
  if (now >= grant.expiresAt) return 'expired';
  return now >= grant.renewsAt ? 'renewing' : 'bound';
}

/**
 * Trouble is told before success, and success before a family that no server has answered yet: addresses are static, so an
 * unanswered family costs the task nothing, and the count of clients by state shows it.
 */
const mostTelling: readonly ClientState[] = ['failed', 'expired', 'renewing', 'bound', 'starting'];

/** One lease out of those of a task's families: the most telling state, and the first end. */
export function taskLease(client: 'dhclient' | null, families: readonly FamilyLease[]): Lease {
  const state = mostTelling.find((candidate) => families.some((family) => family.state === candidate)) ?? 'off';
  const ends = families.flatMap(({ grant }) => (grant === undefined ? [] : [grant.expiresAt]));
  const first = Math.min(...ends);
  return { client, state, expiresAt: Number.isFinite(first) ? first : null };
}

const soon = 250;
const often = 1_000;
const seldom = 60_000;
/** How long an answer of the first exchange is looked for at short intervals. */
const eager = 10_000;

/**
 * Milliseconds until the lease file is worth another look. A lease that is bound says itself when the client will touch it
 * next; only a clock that jumped could make that wrong, hence the upper bound.
 */
export function nextLook(grant: Grant | undefined, startedAt: number, now: number): number {
  if (grant === undefined) return now - startedAt < eager ? soon : often;
  if (now >= grant.expiresAt) return often;
  const untilExpiry = grant.expiresAt - now;
  // Renewing takes milliseconds when the server is well: a second later there is either a new lease or something to tell.
  const untilRenewed = now >= grant.renewsAt + often ? often : grant.renewsAt + often - now;
  return Math.max(1, Math.min(untilExpiry, untilRenewed, seldom));
}

/** Milliseconds to wait before a client that ended `failures` times in a row is started again. */
export function backOff(failures: number): number {
  return Math.min(500 * 2 ** (failures - 1), 60_000);
}
