/** Whether pins outlive the service: they do only when they lie in the host's mount namespace. */
import { closeSync, openSync, statfsSync } from 'node:fs';
import { KernelError, isErrno } from './errno.js';
import { mount, mountFlags, readLink, unmount } from './libc.js';
import { NSFS_MAGIC } from './namespaces.js';
import { pinFolder, pinPath, removeFile, sharePinFolder } from './pins.js';

export interface PinReach {
  /** null: it cannot be told. */
  readonly reaches: boolean | null;
  /** A sentence for people. */
  readonly detail: string;
}

/**
 * Whether a pin made by the service shows in the host's /run/netns, so that tasks keep their networks when the service
 * stops. In a mount namespace of its own that takes a /run/netns that propagates; a pin is made to see.
 * `hostProcess`: a process in the host's mount namespace.
 */
export function pinReach(hostProcess = 1): PinReach {
  const own = readLink('/proc/self/ns/mnt');
  const host = readLink(`/proc/${hostProcess}/ns/mnt`);
  if (host === undefined)
    return { reaches: null, detail: `the mount namespace of process ${hostProcess} cannot be read (CAP_SYS_PTRACE)` };
  if (own === host) return { reaches: true, detail: `${pinFolder} is the host's` };
  sharePinFolder();
  return probe(`/proc/${hostProcess}/root`)
    ? { reaches: true, detail: `${pinFolder} propagates to the host` }
    : {
        reaches: false,
        detail: `${pinFolder} does not propagate to the host: mount it there with rshared propagation`,
      };
}

function probe(hostRoot: string): boolean {
  const path = pinPath(`task-eni-probe-${process.pid}`);
  removeFile(path);
  closeSync(openSync(path, 'wx', 0));
  try {
    mount('/proc/thread-self/ns/net', path, mountFlags.bind);
    try {
      return isNamespace(`${hostRoot}${path}`);
    } finally {
      unmount(path);
    }
  } finally {
    removeFile(path);
  }
}

function isNamespace(path: string): boolean {
  try {
    return statfsSync(path).type === NSFS_MAGIC;
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `look at ${path}`);
    if (isErrno(failure, 'ENOENT', 'EACCES')) return false;
    throw failure;
  }
}
