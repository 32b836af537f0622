/** How long requests to the kernel may hold the main thread in one turn of the event loop, of all sockets together. */

/** Milliseconds. A request waits inside sendmsg for whoever on the host holds RTNL, so even a small one may cost ten. */
const budget = 20;

let spent = 0;
let turning = false;
const waiting: (() => void)[] = [];

/** Whether there is time left in this turn. */
export function hasTime(): boolean {
  return spent < budget;
}

/** Runs what holds the main thread, and counts its time. */
export function spend<T>(fn: () => T): T {
  const start = performance.now();
  try {
    return fn();
  } finally {
    spent += performance.now() - start;
    turn();
  }
}

/** Calls back in a later turn that has time left, in the order of the calls. */
export function whenTime(resume: () => void): void {
  waiting.push(resume);
  turn();
}

function turn(): void {
  if (turning) return;
  turning = true;
  // Between two immediates the event loop takes in whatever has arrived, requests to the API among it.
  setImmediate(() => {
    turning = false;
    spent = 0;
    while (waiting.length > 0 && hasTime()) waiting.shift()?.();
    if (waiting.length > 0) turn();
  });
}
