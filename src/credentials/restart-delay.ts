const first = 100;
const longest = 5000;

/** Milliseconds before a process is started again that ended shortly after its start `failures` times in a row. Pure. */
export function restartDelay(failures: number): number {
  return failures === 0 ? 0 : Math.min(longest, first * 2 ** (failures - 1));
}
