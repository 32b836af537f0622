/** Removes labs: one that is done with, and those whose creators died. Every removal tolerates absence. */
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { run } from './command.js';
import { removeContainers } from './docker-leftovers.js';
import { belongsTo, creatorLives, isMissing, labDirectory, labIdIn, labsDirectory } from './lab-id.js';
import { endProcesses, labProcesses } from './process-table.js';

const netnsDirectory = '/run/netns';
/** Where `dns` of a bare namespace lies (ip-netns(8)). */
const resolverDirectory = '/etc/netns';

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

export async function unmountBelow(paths: readonly string[]): Promise<void> {
  for (const point of await mountsBelow(paths)) await run('umount', ['--lazy', point]);
}

async function removeNamespaces(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await unmountBelow(names.map((name) => `${netnsDirectory}/${name}`));
  for (const name of names) await rm(`${netnsDirectory}/${name}`, { force: true });
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
  await removeNamespaces([...new Set([...names, ...(await entries(netnsDirectory)).filter(ours)])]);
  for (const name of (await entries(resolverDirectory)).filter(ours))
    await rm(`${resolverDirectory}/${name}`, { recursive: true, force: true });
  await unmountBelow(ids.map(labDirectory));
  for (const id of ids) await rm(labDirectory(id), { recursive: true, force: true });
}

/** Removes what dead creators left. Two processes may do so at once. */
export async function sweep(): Promise<string[]> {
  const dead = await deadLabs();
  await removeLabs(dead);
  return dead;
}
