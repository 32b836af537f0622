/** Removes labs: one that is done with, and those whose creators died. Every removal tolerates absence. */
import { readFile, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { run } from './command.js';
import { removeContainers } from './docker-leftovers.js';
import { belongsTo, creatorLives, hasCode, isMissing, labDirectory, labIdIn, labsDirectory } from './lab-id.js';
import { endProcesses, labProcesses } from './process-table.js';

const netnsDirectory = '/run/netns';
/** Where `dns` of a bare namespace lies (ip-netns(8)). */
const resolverDirectory = '/etc/netns';
const leaseDirectories = ['/run', '/var/lib/dhcp'];

async function entries(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Labs of which anything is left although their creators are gone. */
export async function deadLabs(): Promise<string[]> {
  const names = await Promise.all([labsDirectory, netnsDirectory, resolverDirectory].map(entries));
  const ids = new Set(names.flat().flatMap((name) => labIdIn(name) ?? []));
  const dead: string[] = [];
  for (const id of ids) if (!(await creatorLives(id))) dead.push(id);
  return dead;
}

async function networkIdentities(names: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const name of names) {
    try {
      found.add(`net:[${(await stat(`${netnsDirectory}/${name}`)).ino}]`);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return found;
}

/** What is mounted at or below one of the paths, deepest first. */
export async function mountsBelow(paths: readonly string[]): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const points = table.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  const below = points.filter((point) => paths.some((path) => point === path || point.startsWith(`${path}/`)));
  return below.toSorted((a, b) => b.length - a.length);
}

/** Another process that sweeps may be quicker: what counts is that the mount is gone. */
export async function unmountBelow(paths: readonly string[]): Promise<void> {
  for (const point of await mountsBelow(paths)) {
    try {
      await run('umount', ['--lazy', point]);
    } catch (error) {
      if ((await mountsBelow([point])).includes(point)) throw error;
    }
  }
}

async function removeNamespaces(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await unmountBelow(names.map((name) => `${netnsDirectory}/${name}`));
  for (const name of names) await rm(`${netnsDirectory}/${name}`, { force: true });
}

/** What DHCP clients of the labs' tasks left: the files are named by the task's hash, as its record and its namespace are. */
async function removeLeases(ids: readonly string[], namespaces: readonly string[]): Promise<void> {
  const records = await Promise.all(ids.map((id) => entries(`${labDirectory(id)}/state/tasks`)));
  const hashes = new Set([...records.flat(), ...namespaces].flatMap((name) => /[0-9a-f]{20}/.exec(name)?.[0] ?? []));
  for (const directory of leaseDirectories)
    for (const name of await entries(directory))
      if (name.startsWith('dhclient') && [...hashes].some((hash) => name.includes(hash)))
        await rm(`${directory}/${name}`, { force: true });
}

async function removeResolvers(ours: (name: string) => boolean): Promise<void> {
  const names = (await entries(resolverDirectory)).filter(ours);
  for (const name of names) await rm(`${resolverDirectory}/${name}`, { recursive: true, force: true });
  if (names.length === 0) return;
  try {
    await rmdir(resolverDirectory);
  } catch (error) {
    // Somebody else's are in it, or another process was quicker.
    if (!hasCode(error, 'ENOTEMPTY', 'ENOENT')) throw error;
  }
}

/** Removes all that bears the labs' ids: containers, processes, namespaces, mounts, files. */
export async function removeLabs(ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const ours = (name: string) => ids.some((id) => belongsTo(id, name));
  const containers = await Promise.all(ids.map(removeContainers));
  const names = (await entries(netnsDirectory)).filter(ours);
  const networks = await networkIdentities(names);
  for (const network of containers.flat()) networks.add(network);
  // A process may start another while it is being killed: look again until none is left.
  for (let pids = await labProcesses(ids, networks); pids.length > 0; pids = await labProcesses(ids, networks))
    await endProcesses(pids);
  const namespaces = [...new Set([...names, ...(await entries(netnsDirectory)).filter(ours)])];
  await removeNamespaces(namespaces);
  await removeLeases(ids, namespaces);
  await removeResolvers(ours);
  await unmountBelow(ids.map(labDirectory));
  for (const id of ids) await rm(labDirectory(id), { recursive: true, force: true, maxRetries: 3 });
}

/** Removes what dead creators left. Two processes may do so at once. */
export async function sweep(): Promise<string[]> {
  const dead = await deadLabs();
  await removeLabs(dead);
  return dead;
}
