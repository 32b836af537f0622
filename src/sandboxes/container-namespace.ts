import { readFileSync } from 'node:fs';
import { TaskEniError } from '../errors.js';
import { KernelError } from '../kernel/errno.js';
import { type Namespace, NotANamespaceError, openNamespace } from '../kernel/namespaces.js';
import type { Container } from './container.js';

/**
 * Opens a running container's network namespace: by Docker's own mount of it, which needs no right over the process, else
 * (Docker runs in another mount namespace, or keeps none) by the process. Throws `unusable-sandbox`.
 */
export function openContainerNamespace(container: Container): Namespace {
  const byKey = container.sandboxKey === '' ? undefined : tryOpen(container.sandboxKey);
  if (byKey !== undefined) return byKey;
  const byProcess = tryOpen(`/proc/${container.pid}/ns/net`);
  if (byProcess !== undefined && isInContainer(container)) return byProcess;
  byProcess?.close();
  throw new TaskEniError(
    'unusable-sandbox',
    `the network namespace of the container ${container.name} cannot be opened: neither ${container.sandboxKey || "Docker's own mount"} ` +
      `nor process ${container.pid} leads to it; the engine must run on this host and share its pid namespace with the service`,
  );
}

function tryOpen(path: string): Namespace | undefined {
  try {
    return openNamespace(path);
  } catch (error) {
    // A sandbox key whose mount is gone, or lies in another mount namespace, is an empty file here.
    if (error instanceof KernelError || error instanceof NotANamespaceError) return undefined;
    throw error;
  }
}

/**
 * Whether the pid that Docker named is the container's, and not that of a stranger: of a process that got the number since,
 * or of whatever bears it here when the engine counts its pids elsewhere. Cgroup paths end in the container's id, plain or
 * as `docker-<id>.scope` (cgroups(7)).
 */
function isInContainer(container: Container): boolean {
  try {
    return readFileSync(`/proc/${container.pid}/cgroup`, 'utf8').includes(container.id);
  } catch (error) {
    if (KernelError.fromFileSystem(error, 'read cgroup').errno === 'ENOENT') return false;
    throw error;
  }
}
