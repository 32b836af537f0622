/** When credentials are fetched again. Pure: time and randomness come in as arguments; all in milliseconds. */

const second = 1000;

/**
 * Two thirds into the life of credentials, up to a tenth of that life earlier, so that tasks which started together do not
 * ask together for ever. The last third is time to try again.
 */
export function refreshDelay(life: number, random: number): number {
  return Math.max(second, (life * 2) / 3 - (life / 10) * random);
}

/** A source that does not answer is asked again soon; one that refuses says the same for a while. */
const longestRetry = { timeout: 20 * second, refused: 60 * second } as const;

/** After the `failures`-th failure in a row (from 1): doubling, with up to half of it taken off by chance. */
export function retryDelay(failures: number, kind: keyof typeof longestRetry, random: number): number {
  const delay = Math.min(longestRetry[kind], second * 2 ** (failures - 1));
  return delay - (delay / 2) * random;
}

/** Fetches after a restart begin at most this often: a full host asks for half a minute, and not all at once. */
const spacing = 25;

/** When the next of the tasks found at a restart fetches, given when the one before it does. */
export function nextSlot(now: number, slotBefore: number): number {
  return Math.max(now, slotBefore + spacing);
}
