import { readdir, readlink } from 'node:fs/promises';
import { KernelError } from '../kernel/errno.js';
import { pinFolder, pinnedNames } from '../kernel/pins.js';

/** Each network namespace that a process is in or that is pinned under /run/netns, once, by a path that leads to it. */
export async function hostNamespaces(): Promise<string[]> {
  const pins = pinnedNames().map((name) => `${pinFolder}/${name}`);
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = new Map<string, string>();
  await Promise.all(
    pids.map(async (pid) => {
      const inode = await inodeOf(`/proc/${pid}/ns/net`);
      if (inode !== undefined && !found.has(inode)) found.set(inode, `/proc/${pid}/ns/net`);
    }),
  );
  // A pin may be one of those as well: its inode shows only once it is opened, and looking twice costs little.
  return [...pins, ...found.values()];
}

async function inodeOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // It ended meanwhile, is a zombie, or (PID 1 under some supervisors) does not let itself be looked at.
    const failure = KernelError.fromFileSystem(error, `look at ${path}`);
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(failure.errno)) return undefined;
    throw failure;
  }
}
