/** A lock between processes that a dead holder does not keep. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, isMissing, startTime } from './lab-id.js';

/** `pid start-time`, which no other process ever has until the next boot. */
export async function ownMark(): Promise<string> {
  return `${process.pid} ${await startTime(process.pid)}`;
}

export async function markLives(mark: string): Promise<boolean> {
  const [pid = '', time] = mark.trim().split(' ');
  return (await startTime(Number(pid))) === time;
}

/** Does `work` while holding the lock file; waits for its holder as long as that one lives, at most `seconds`. */
export async function withLock<T>(file: string, work: () => Promise<T>, seconds = 120): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await take(file))) {
    if (Date.now() > deadline) throw new Error(`${file} is held by ${await readFile(file, 'utf8')}`);
    await sleep(20);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, await ownMark(), { flag: 'wx' });
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  await breakDeadLock(file);
  return false;
}

/** Renaming it first makes sure that of two who find a dead holder only one removes his lock. */
async function breakDeadLock(file: string): Promise<void> {
  try {
    const mark = await readFile(file, 'utf8');
    // A lock just made may still be empty.
    if (mark === '' || (await markLives(mark))) return;
    const aside = `${file}.${process.pid}`;
    await rename(file, aside);
    await rm(aside);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
