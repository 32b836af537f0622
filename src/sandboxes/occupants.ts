import { fstatSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { KernelError, isErrno } from '../kernel/errno.js';
import { linkNames, linkNamesOf } from '../kernel/link-names.js';
import type { Namespace } from '../kernel/namespaces.js';

/**
 * Pids of the processes that are in the namespace now, as far as this pid namespace shows them (proc(5)). One that may not
 * be looked at (without CAP_SYS_PTRACE, most of other users) counts when the links that it sees are the namespace's.
 */
export async function occupants(namespace: Namespace): Promise<number[]> {
  // While the namespace is held open nothing else can bear its inode number.
  const identity = `net:[${fstatSync(namespace.fd).ino}]`;
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const seen = await Promise.all(pids.map(namespaceOf));
  const links = seen.includes(hidden) ? linkNames(namespace) : [];
  return pids.filter((pid, index) => seen[index] === identity || (seen[index] === hidden && sees(pid, links)));
}

const hidden = Symbol('it may not be looked at');
type Hidden = typeof hidden;

async function namespaceOf(pid: number): Promise<string | Hidden | undefined> {
  try {
    return await readlink(`/proc/${pid}/ns/net`);
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `look at process ${pid}`);
    // It ended meanwhile, or is a zombie, which is in no namespace.
    if (isErrno(failure, 'ENOENT', 'ESRCH')) return undefined;
    if (isErrno(failure, 'EACCES', 'EPERM')) return hidden;
    throw failure;
  }
}

function sees(pid: number, links: readonly string[]): boolean {
  return linkNamesOf(pid)?.toSorted().join() === links.toSorted().join();
}
