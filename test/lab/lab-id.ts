/** A lab's id names its creator, so that whoever comes later can tell whether anybody still needs the lab. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';

/** On tmpfs, as the service's runtime folder must be to hold secrets. */
export const labsDirectory = '/dev/shm/task-eni-lab';

const pattern = /^te(\d+)n(\d+)(?:-.+)?$/;

/** The lab's id in its own name or in that of a namespace, folder or container of it; undefined for a stranger's. */
export function labIdIn(name: string): string | undefined {
  const match = pattern.exec(name);
  return match === null ? undefined : `te${match[1]}n${match[2]}`;
}

export function belongsTo(id: string, name: string): boolean {
  return labIdIn(name) === id;
}

export function labDirectory(id: string): string {
  return `${labsDirectory}/${id}`;
}

/** Start time of a process in clock ticks after boot (proc(5), stat, field 22); undefined when there is none. */
export async function startTime(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name, field 2, may hold spaces and parentheses: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Takes the first free number of this process by making the lab's folder. */
export async function reserveLab(): Promise<{ id: string; number: number; directory: string }> {
  await mkdir(labsDirectory, { recursive: true, mode: 0o700 });
  const owner = JSON.stringify({ pid: process.pid, startTime: await startTime(process.pid) });
  for (let number = 1; ; number++) {
    const id = `te${process.pid}n${number}`;
    const directory = labDirectory(id);
    try {
      await mkdir(directory, { mode: 0o700 });
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue;
      throw error;
    }
    await writeFile(`${directory}/owner.json`, owner);
    return { id, number, directory };
  }
}

/** Whether the process that made the lab still runs. Until the owner file is there, its pid alone tells. */
export async function creatorLives(id: string): Promise<boolean> {
  const pid = Number(pattern.exec(id)?.[1]);
  const now = await startTime(pid);
  if (now === undefined) return false;
  try {
    const owner = JSON.parse(await readFile(`${labDirectory(id)}/owner.json`, 'utf8')) as { startTime: string };
    return owner.startTime === now;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return true;
    throw error;
  }
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes(String((error as NodeJS.ErrnoException).code));
}

/** ESRCH is what reading /proc/<pid> gives when the process ends meanwhile. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ESRCH');
}
