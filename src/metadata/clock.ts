import { setTimeout as delay } from 'node:timers/promises';

/** Time for code that waits; a test passes one that it moves by hand. */
export interface Clock {
  /** Milliseconds that never jump, as performance.now() gives them. */
  now(): number;
  /** Rejects with the signal's AbortError once that is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, signal === undefined ? {} : { signal }),
};
