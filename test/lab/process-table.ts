/** Finds and ends processes by what only a lab's processes have: its namespaces and its name in their environment. */
import { readFile, readdir, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { labVariable } from './host-namespace.js';
import { hasCode, isMissing, startTime } from './lab-id.js';

/** `net:[4026532177]`: the identity of a network namespace as long as it lives. */
async function networkOf(pid: number): Promise<string | undefined> {
  return readProc(() => readlink(`/proc/${pid}/ns/net`));
}

/** A process that ends while it is looked at reads as absent; so does a kernel thread's or zombie's (EACCES). */
async function readProc(read: () => Promise<string>): Promise<string | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error) || hasCode(error, 'EACCES', 'EINVAL')) return undefined;
    throw error;
  }
}

export async function allPids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** One pid for each network namespace in which a process lives, by the namespace's identity. */
export async function networksInUse(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const pid of await allPids()) {
    const network = await networkOf(pid);
    if (network !== undefined && !found.has(network)) found.set(network, pid);
  }
  return found;
}

export async function networksOf(pids: readonly number[]): Promise<string[]> {
  const networks = await Promise.all(pids.map(networkOf));
  return networks.filter((network) => network !== undefined);
}

/** Processes in one of the networks, or whose environment names one of the labs. */
export async function labProcesses(ids: readonly string[], networks: ReadonlySet<string>): Promise<number[]> {
  const marks = ids.map((id) => `${labVariable}=${id}\0`);
  const own = await networkOf(process.pid);
  const found: number[] = [];
  for (const pid of await allPids()) {
    if (pid === process.pid || pid === 1) continue;
    const network = await networkOf(pid);
    if (network === undefined) continue;
    const environment = (await readProc(() => readFile(`/proc/${pid}/environ`, 'utf8'))) ?? '';
    const marked = marks.some((mark) => environment.startsWith(mark) || environment.includes(`\0${mark}`));
    if (marked || (network !== own && networks.has(network))) found.push(pid);
  }
  return found;
}

/** Kills, and waits until the last of them is gone. */
export async function endProcesses(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
  }
  const deadline = Date.now() + 5_000;
  for (const pid of pids) {
    while ((await startTime(pid)) !== undefined) {
      if (Date.now() > deadline) throw new Error(`process ${pid} does not end`);
      await sleep(3);
    }
  }
}
