import { setImmediate as nextTurn } from 'node:timers/promises';

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs what holds the main thread for long (moving a link, deleting one, making a namespace, spawning) one at a time in the
 * order of the calls, and lets the event loop have a turn after each. Moves and deletes serialise in the kernel anyway
 * (RTNL), so nothing is lost, and the API keeps answering while many tasks start at once.
 *
 * Not to be called from within `fn`: the inner call would wait for the outer one.
 */
export function blocking<T>(fn: () => T | Promise<T>): Promise<T> {
  const result = last.then(fn);
  last = result.then(
    () => nextTurn(),
    () => nextTurn(),
  );
  return result;
}
