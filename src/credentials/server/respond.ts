import { type Answer, nothingHere, refusals } from './answers.js';
import type { Limiter } from './limiter.js';
import type { CredentialsTable } from './table.js';
import type { Target } from './target.js';

export interface Asked {
  readonly method: string;
  readonly target: Target;
  /** The socket's own peer address; what headers say of it counts for nothing. */
  readonly peer: string;
}

/** Milliseconds: wall time, which expirations are told in, and a time that never jumps, for the limiter. */
export interface Now {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * Decides the answer. Whose id it is is checked before whether it has credentials, so that to a stranger an id looks the
 * same whatever its state; and guesses cost tokens, whatever becomes of them. Pure but for the limiter's tokens.
 */
export function respond(
  { method, target, peer }: Asked,
  table: Pick<CredentialsTable, 'get' | 'complete'>,
  limiter: Pick<Limiter, 'take'>,
  now: Now,
): Answer {
  if (target.kind === 'other') return nothingHere;
  const refuse = refusals[target.api];
  if (method !== 'GET') return refuse.method;
  const wait = limiter.take(peer, now.monotonic);
  if (wait > 0) return refuse.throttled(wait);
  if (target.id === undefined) return refuse.noId;
  const served = table.get(target.id);
  if (served === undefined) return table.complete ? refuse.unknownId : refuse.uninitialized;
  if (served.address !== peer) return refuse.notYours;
  if (served.answer === null || served.expiration <= now.wall) return refuse.uninitialized;
  return served.answer;
}

/** The address as it is stored: a socket that serves both families calls an IPv4 peer `::ffff:169.254.172.2`. */
export function normalizePeer(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:/i, '');
}
