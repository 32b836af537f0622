import { fstatSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { KernelError } from '../kernel/errno.js';
import type { Namespace } from '../kernel/namespaces.js';

/** Pids of the processes that are in the namespace now, as far as this pid namespace shows them (proc(5)). */
export async function occupants(namespace: Namespace): Promise<number[]> {
  // While the namespace is held open nothing else can bear its inode number.
  const identity = `net:[${fstatSync(namespace.fd).ino}]`;
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const inside = await Promise.all(pids.map(async (pid) => (await namespaceOf(pid)) === identity));
  return pids.filter((_pid, index) => inside[index]).map(Number);
}

async function namespaceOf(pid: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/ns/net`);
  } catch (error) {
    // It ended meanwhile, or is a zombie, which is in no namespace.
    const failure = KernelError.fromFileSystem(error, `look at process ${pid}`);
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(failure.errno)) return undefined;
    throw failure;
  }
}
