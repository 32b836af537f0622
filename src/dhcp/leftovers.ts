import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { readFile, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import { type Process, stopProcess } from '../kernel/processes.js';
import { dhclientDirectory, hashOfArguments, hashOfFile, isConfigurationOf } from './dhclient.js';
import { parseProcess } from './left-process.js';

/** Milliseconds until a client that has not ended is killed. */
const graceMs = 2_000;

/**
 * Ends every client that a former run of this instance left behind, and removes the files of tasks that are not in `live`.
 * No pid is ever read from a file. A process is ours when its executable is dhclient, its arguments name this instance and one
 * of our lease files, and it does not stand in the service's own network namespace, where we start none.
 */
export async function sweepLeftovers(instance: string, live: ReadonlySet<string>, log: Logger): Promise<void> {
  const left = clientsOf(instance);
  await Promise.all(
    left.map(async (client) => {
      log.info({ clientPid: client.pid }, 'a DHCP client of a former run is ended');
      await stopProcess(client, graceMs).catch((error: unknown) => {
        log.error(
          { clientPid: client.pid, reason: describeError(error) },
          'a DHCP client of a former run does not end',
        );
      });
    }),
  );
  await removeFiles(await hashesOf(instance), live);
}

function clientsOf(instance: string): Process[] {
  const own = statSync('/proc/self/ns/net').ino;
  return readdirSync('/proc').flatMap((name) => {
    const found = /^\d+$/.test(name) ? look(`/proc/${name}`) : undefined;
    if (found === undefined || found.namespaceInode === own) return [];
    return hashOfArguments(found.process.argv, instance) === undefined ? [] : [found.process];
  });
}

/** A process that runs dhclient. */
function look(folder: string): { process: Process; namespaceInode: number } | undefined {
  try {
    // The name costs the least to read, and tells all but a few apart.
    if (readFileSync(`${folder}/comm`, 'utf8') !== 'dhclient\n') return undefined;
    const program = basename(readlinkSync(`${folder}/exe`).replace(/ \(deleted\)$/, ''));
    const namespaceInode = statSync(`${folder}/ns/net`).ino;
    const process = parseProcess(
      program,
      readFileSync(`${folder}/stat`, 'utf8'),
      readFileSync(`${folder}/cmdline`, 'utf8'),
    );
    return program === 'dhclient' && process !== undefined ? { process, namespaceInode } : undefined;
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? error.code : undefined;
    // It ended while it was looked at, or it has capabilities that we lack, and that no child of ours could have.
    if (errno === 'ENOENT' || errno === 'ESRCH' || errno === 'EACCES' || errno === 'EPERM') return undefined;
    throw error;
  }
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
