/** The names of a namespace's links without rtnetlink: /proc/<pid>/net/dev costs a tenth of a listing (proc(5)). */
import { readFileSync } from 'node:fs';
import { KernelError, isErrno } from './errno.js';
import type { Namespace } from './namespaces.js';

/** Two lines of head, then `name: counters`. A name may hold a colon; what follows it does not. */
function parseNames(text: string): string[] {
  const lines = text.split('\n').slice(2, -1);
  return lines.map((line) => line.slice(0, line.lastIndexOf(':')).trim());
}

export function linkNames(namespace: Namespace): string[] {
  try {
    return parseNames(namespace.visit(() => readFileSync('/proc/thread-self/net/dev', 'utf8')));
  } catch (error) {
    throw KernelError.fromFileSystem(error, `list the links of ${namespace.path}`);
  }
}

/** The links that a process sees; undefined when it has ended. Asks for no right over the process, unlike its namespace. */
export function linkNamesOf(pid: number): string[] | undefined {
  try {
    return parseNames(readFileSync(`/proc/${pid}/net/dev`, 'utf8'));
  } catch (error) {
    // EINVAL: it is a zombie, which is in no namespace.
    const failure = KernelError.fromFileSystem(error, `list the links of process ${pid}`);
    if (isErrno(failure, 'ENOENT', 'ESRCH', 'EINVAL')) return undefined;
    throw failure;
  }
}
