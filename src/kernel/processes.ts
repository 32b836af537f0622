/** Other processes of the host, found by what they run and where, and stopped without ever hitting another one. */
import { closeSync, fstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KernelError, isErrno } from './errno.js';
import { openProcess, readLink, signalProcess } from './libc.js';
import type { Namespace } from './namespaces.js';

export interface Process {
  readonly pid: number;
  /** Clock ticks from boot to its start: with the pid, what identifies it until the next boot (proc(5), stat field 22). */
  readonly startTime: string;
  /** Name of the program's file. */
  readonly program: string;
  /** The command line, from the command's own name on. */
  readonly argv: readonly string[];
}

const SIGTERM = 15;
const SIGKILL = 9;

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `read /proc/${pid}/${file}`);
    if (isErrno(failure, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined;
    throw failure;
  }
}

/** State letter and start time; the fields are counted from behind the command's name, which may hold anything. */
function readStat(pid: number): { state: string; startTime: string } | undefined {
  const stat = readProc(pid, 'stat');
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields?.[0], fields?.[19]];
  return state === undefined || startTime === undefined ? undefined : { state, startTime };
}

function programOf(pid: number): string | undefined {
  const exe = readLink(`/proc/${pid}/exe`);
  return exe && basename(exe.replace(/ \(deleted\)$/, ''));
}

function isIn(pid: number, namespace: Namespace): boolean {
  try {
    // While the namespace is held open nothing else can bear its inode number.
    return statSync(`/proc/${pid}/ns/net`).ino === fstatSync(namespace.fd).ino;
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `look at process ${pid}`);
    if (isErrno(failure, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false;
    throw failure;
  }
}

/** The processes that run one of the programs inside the namespace. */
export function processesRunning(programs: ReadonlySet<string>, namespace: Namespace): Process[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = /^\d+$/.test(entry) ? Number(entry) : undefined;
    const program = pid === undefined ? undefined : programOf(pid);
    if (pid === undefined || program === undefined || !programs.has(program) || !isIn(pid, namespace)) return [];
    const startTime = readStat(pid)?.startTime;
    const argv = readProc(pid, 'cmdline')?.split('\0').slice(0, -1);
    return startTime === undefined || argv === undefined ? [] : [{ pid, startTime, program, argv }];
  });
}

function isAlive(process: Process): boolean {
  const stat = readStat(process.pid);
  return stat !== undefined && stat.startTime === process.startTime && stat.state !== 'Z';
}

/** Sends the signal to this very process; false when it is gone. */
function signal(process: Process, number: number): boolean {
  let pidfd: number;
  try {
    pidfd = openProcess(process.pid);
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false;
    throw error;
  }
  try {
    // Checked after the descriptor is held: from here on the pid cannot come to mean another process.
    if (!isAlive(process)) return false;
    signalProcess(pidfd, number);
    return true;
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false;
    throw error;
  } finally {
    closeSync(pidfd);
  }
}

async function waitForEnd(process: Process, milliseconds: number): Promise<boolean> {
  for (const deadline = Date.now() + milliseconds; isAlive(process); await pause(5))
    if (Date.now() > deadline) return false;
  return true;
}

/** Asks it to end, and ends it when it has not after `graceMs`. False when it was gone already. */
export async function stopProcess(process: Process, graceMs: number): Promise<boolean> {
  if (!signal(process, SIGTERM)) return false;
  if (await waitForEnd(process, graceMs)) return true;
  signal(process, SIGKILL);
  if (await waitForEnd(process, graceMs)) return true;
  throw new KernelError('EBUSY', `stop ${process.program} (process ${process.pid})`);
}
