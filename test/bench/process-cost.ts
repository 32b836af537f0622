/** What a process has used, from /proc (proc(5)). */
import { readFileSync } from 'node:fs';

/** KiB. */
export interface Memory {
  readonly rss: number;
  readonly pss: number;
}

export function memory(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
  return { rss: field('Rss'), pss: field('Pss') };
}

/** User and system time, in seconds; the kernel counts in hundredths for every architecture (USER_HZ). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The child whose command line has the word in it. */
export function childOf(pid: number, word: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(word));
  if (found === undefined) throw new Error(`${pid} has no child ${word}`);
  return found;
}
