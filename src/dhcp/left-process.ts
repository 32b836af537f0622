import type { Process } from '../kernel/processes.js';

/** A process out of the texts of its /proc folder (proc(5)); undefined when they are cut short. */
export function parseProcess(program: string, stat: string, commandLine: string): Process | undefined {
  // The name in parentheses may itself hold anything; what follows is counted from behind it.
  const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const pid = Number.parseInt(stat, 10);
  if (startTime === undefined || Number.isNaN(pid)) return undefined;
  return { pid, startTime, program, argv: commandLine.split('\0').slice(0, -1) };
}
