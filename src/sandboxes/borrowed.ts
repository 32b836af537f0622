import { readFileSync } from 'node:fs';
import type { SandboxRequest } from '../attachments/request.js';
import { TaskEniError } from '../errors.js';
import { KernelError, isErrno } from '../kernel/errno.js';
import { type Namespace, NotANamespaceError, openNamespace } from '../kernel/namespaces.js';
import { openContainerNamespace } from './container-namespace.js';
import type { DockerSandboxes } from './docker.js';
import { type Sandbox, sandboxOf } from './sandbox.js';

/** A namespace that no task may have. */
export interface ForbiddenNamespace {
  readonly cookie: bigint;
  /** Completes "… is", e.g. `the service's own network namespace`. */
  readonly what: string;
}

/** Opens a sandbox of the caller's, once. Throws `unusable-sandbox`, for a container also `docker-unavailable`. */
export async function borrow(
  request: SandboxRequest,
  docker: Pick<DockerSandboxes, 'inspect'>,
  forbidden: readonly ForbiddenNamespace[],
): Promise<Sandbox> {
  const sandbox = await openRequested(request, docker);
  const { cookie } = sandbox.namespace;
  const taken = forbidden.find((namespace) => namespace.cookie === cookie);
  if (taken === undefined) return sandbox;
  sandbox.namespace.close();
  throw unusable(`${nameOf(request)} is ${taken.what}`);
}

async function openRequested(request: SandboxRequest, docker: Pick<DockerSandboxes, 'inspect'>): Promise<Sandbox> {
  switch (request.kind) {
    case 'container': {
      const container = await docker.inspect(request.containerId);
      const { id: containerId, pid } = container;
      return sandboxOf(openContainerNamespace(container), { kind: 'docker', owned: false, containerId, pid });
    }
    case 'pid':
      return sandboxOf(openOfProcess(request.pid), { kind: 'pid', owned: false, containerId: null, pid: request.pid });
    case 'netns':
      return sandboxOf(openPath(request.path), { kind: 'netns', owned: false, containerId: null, pid: null });
  }
}

function nameOf(request: SandboxRequest): string {
  switch (request.kind) {
    case 'container':
      return `the namespace of the container ${request.containerId}`;
    case 'pid':
      return `the namespace of process ${request.pid}`;
    case 'netns':
      return request.path;
  }
}

/** One name in a folder of pins, so that neither `..` nor a folder that is a link leads elsewhere; or a process's. */
function openPath(path: string): Namespace {
  const process = /^\/proc\/([1-9]\d{0,9})\/ns\/net$/.exec(path)?.[1];
  if (process !== undefined) return openOfProcess(Number(process));
  const name = /^(?:\/run\/netns|\/var\/run\/netns|\/var\/run\/docker\/netns)\/([^/]+)$/.exec(path)?.[1];
  if (name === undefined || name === '.' || name === '..')
    throw unusable(
      `${path} is not a name under /run/netns, /var/run/netns or /var/run/docker/netns, and not /proc/<pid>/ns/net`,
    );
  return open(path, 'does not exist');
}

/** The start time, asked before and after, shows that the pid did not pass to another process meanwhile. */
function openOfProcess(pid: number): Namespace {
  const path = `/proc/${pid}/ns/net`;
  const started = startTime(pid);
  if (started === undefined) throw unusable(`there is no process ${pid}`);
  const namespace = open(path, 'is that of a process that has ended');
  if (startTime(pid) === started) return namespace;
  namespace.close();
  throw unusable(`process ${pid} has ended`);
}

function open(path: string, absent: string): Namespace {
  try {
    return openNamespace(path);
  } catch (error) {
    if (error instanceof NotANamespaceError) throw unusable(error.message, error);
    if (isErrno(error, 'ENOENT', 'ESRCH')) throw unusable(`${path} ${absent}`, error);
    if (isErrno(error, 'EACCES', 'EPERM', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'))
      throw unusable(`${path} cannot be opened: ${error.errno}`, error);
    throw error;
  }
}

/** In clock ticks since the boot: the 22nd field of /proc/<pid>/stat, counted from behind the name, which may hold anything (proc(5)). */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch (error) {
    if (isErrno(KernelError.fromFileSystem(error, `look at process ${pid}`), 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

function unusable(detail: string, cause?: unknown): TaskEniError {
  return new TaskEniError('unusable-sandbox', detail, { cause });
}
