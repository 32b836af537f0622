/** Processes of this host as /proc shows them (proc(5)). */
import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** A pid alone may be another process a moment later; with its start time (clock ticks since boot) it is one process for ever. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

export interface ObservedProcess extends ProcessIdentity {
  /** Path of the executable. */
  readonly executable: string;
  readonly args: readonly string[];
  /** Inode of its network namespace; tells namespaces apart that live at the same time. */
  readonly namespaceInode: number;
}

/** A process whose name fits but which may not be looked into: that takes CAP_SYS_PTRACE when it has more capabilities than we. */
export interface OpaqueProcess {
  readonly pid: number;
  readonly errno: string;
}

const batch = 64;

/**
 * Every process with one of these names (/proc/<pid>/comm, at most 15 bytes). The name is only what makes the search cheap:
 * judge by `executable`.
 */
export async function findProcesses(
  names: ReadonlySet<string>,
): Promise<{ processes: ObservedProcess[]; opaque: OpaqueProcess[] }> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const processes: ObservedProcess[] = [];
  const opaque: OpaqueProcess[] = [];
  for (const [index, pid] of pids.entries()) {
    // Some 10 µs each: a host with thousands of processes should not silence the service meanwhile.
    if (index % batch === batch - 1) await nextTurn();
    const found = observe(Number(pid), names);
    if (found === undefined) continue;
    if ('errno' in found) opaque.push(found);
    else processes.push(found);
  }
  return { processes, opaque };
}

function observe(pid: number, names: ReadonlySet<string>): ObservedProcess | OpaqueProcess | undefined {
  const folder = `/proc/${pid}`;
  try {
    if (!names.has(readFileSync(`${folder}/comm`, 'utf8').trimEnd())) return undefined;
    const startTime = readStat(pid)?.startTime;
    if (startTime === undefined) return undefined;
    return {
      pid,
      startTime,
      executable: readlinkSync(`${folder}/exe`).replace(/ \(deleted\)$/, ''),
      args: splitArguments(readFileSync(`${folder}/cmdline`, 'utf8')),
      namespaceInode: statSync(`${folder}/ns/net`).ino,
    };
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (errno === 'EACCES' || errno === 'EPERM') return { pid, errno };
    // It ended while it was looked at.
    if (errno === 'ENOENT' || errno === 'ESRCH') return undefined;
    throw error;
  }
}

/** Arguments as in /proc/<pid>/cmdline: each ends with NUL; a program that renames itself pads with more of them. */
export function splitArguments(commandLine: string): string[] {
  return commandLine.replace(/\0+$/, '').split('\0');
}

/** State and start time from /proc/<pid>/stat, where the name in parentheses may itself hold anything. */
export function parseStat(stat: string): { state: string; startTime: string } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === undefined || startTime === undefined ? undefined : { state, startTime };
}

function readStat(pid: number): { state: string; startTime: string } | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
    if (gone) return undefined;
    throw error;
  }
}

/** A zombie counts as gone: it holds neither socket nor namespace. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X';
}

/** Ends a process that is not our child: SIGTERM, then SIGKILL. Resolves with whether it is gone in time (ms). */
export async function endProcess(process_: ProcessIdentity, graceMs = 2_000, killMs = 2_000): Promise<boolean> {
  for (const [signal, patienceMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', killMs],
  ] as const) {
    const deadline = Date.now() + patienceMs;
    if (isAlive(process_) && !sendSignal(process_.pid, signal)) return false;
    while (isAlive(process_) && Date.now() < deadline) await delay(20);
    if (!isAlive(process_)) return true;
  }
  return false;
}

/** False when it may not be signalled (CAP_KILL); one that is gone meanwhile needs no signal. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? error.code : undefined;
    if (errno === 'ESRCH') return true;
    if (errno === 'EPERM') return false;
    throw error;
  }
}
