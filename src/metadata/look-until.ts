import { TaskEniError, describeError } from '../errors.js';
import { type Clock, monotonicClock } from './clock.js';
import { MetadataError } from './instance-metadata.js';

/** How long somebody is ready to wait for instance metadata. */
export interface Wait {
  /** On the clock of `clock.now()`: performance.now() unless a test has its own. */
  readonly deadline: number;
  /** Aborted when nobody wants the result any more. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

const firstPause = 100;
const longestPause = 1000;
/** Refusals in a row after which there is nothing to wait for. */
const maxRefusals = 5;

/**
 * Looks again and again, with pauses from 0.1 s growing to 1 s, until `look` gives a value. When the deadline passes
 * (a look under way is then cut off) or instance metadata keeps refusing, `giveUp` has the last word; it is told why
 * the last look failed, if it did.
 * Throws the signal's reason, and at once what is no {@link MetadataError}.
 */
export async function lookUntil<T>(
  look: (signal: AbortSignal) => Promise<T | undefined>,
  { deadline, signal, clock = monotonicClock }: Wait,
  giveUp: (lastError: MetadataError | undefined) => T,
): Promise<T> {
  const outOfTime = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - clock.now())));
  const either = signal === undefined ? outOfTime : AbortSignal.any([signal, outOfTime]);
  let refusals = 0;
  let lastError: MetadataError | undefined;
  for (let pause = firstPause; ; pause = Math.min(pause * 1.5, longestPause)) {
    try {
      const value = await look(either);
      if (value !== undefined) return value;
      lastError = undefined;
    } catch (error) {
      signal?.throwIfAborted();
      if (outOfTime.aborted) return giveUp(lastError);
      if (!(error instanceof MetadataError)) throw error;
      lastError = error;
    }
    refusals = lastError?.refused === true ? refusals + 1 : 0;
    const left = deadline - clock.now();
    if (left <= 0 || refusals === maxRefusals) return giveUp(lastError);
    await clock.sleep(Math.min(pause, left), signal);
  }
}

export function metadataTimeout(detail: string, lastError: MetadataError | undefined): TaskEniError {
  if (lastError === undefined) return new TaskEniError('metadata-timeout', detail);
  return new TaskEniError('metadata-timeout', `${detail}; ${describeError(lastError)}`, { cause: lastError });
}
