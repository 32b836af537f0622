import { readFile, readdir, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { dhclientDirectory, hashOfArguments, hashOfFile, isConfigurationOf } from './dhclient.js';
import { endProcess, findProcesses } from './processes.js';

/**
 * Ends every client that a former run of this instance left behind, and removes the files of tasks that are not in `live`.
 * No pid is ever read from a file. A process is ours when its executable is dhclient, its arguments name this instance and one
 * of our lease files, and it does not stand in the service's own network namespace, where we start none.
 */
export async function sweepLeftovers(instance: string, live: ReadonlySet<string>, log: Logger): Promise<void> {
  const own = statSync('/proc/self/ns/net').ino;
  const { processes } = await findProcesses(new Set(['dhclient']));
  const left = processes.filter(
    (process_) =>
      basename(process_.executable) === 'dhclient' &&
      hashOfArguments(process_.args, instance) !== undefined &&
      process_.namespaceInode !== own,
  );
  await Promise.all(
    left.map(async (process_) => {
      log.info({ pid: process_.pid }, 'a DHCP client of a former run is ended');
      if (!(await endProcess(process_))) log.error({ pid: process_.pid }, 'a DHCP client of a former run does not end');
    }),
  );
  await removeFiles(await hashesOf(instance), live);
}

/** Tasks of which this instance left a configuration file. */
async function hashesOf(instance: string): Promise<Set<string>> {
  const hashes = new Set<string>();
  for (const name of await listFiles()) {
    const hash = name.endsWith('.conf') ? hashOfFile(name) : undefined;
    if (hash === undefined) continue;
    const text = await readFile(join(dhclientDirectory, name), 'utf8').catch(emptyWhenMissing);
    if (isConfigurationOf(instance, text)) hashes.add(hash);
  }
  return hashes;
}

async function removeFiles(hashes: ReadonlySet<string>, live: ReadonlySet<string>): Promise<void> {
  for (const name of await listFiles()) {
    const hash = hashOfFile(name);
    if (hash !== undefined && hashes.has(hash) && !live.has(hash))
      await rm(join(dhclientDirectory, name), { force: true });
  }
}

async function listFiles(): Promise<string[]> {
  try {
    return await readdir(dhclientDirectory);
  } catch (error) {
    if (emptyWhenMissing(error) === '') return [];
    throw error;
  }
}

function emptyWhenMissing(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
  throw error;
}
