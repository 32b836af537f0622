/** Network namespaces by descriptor, and the only way in which the service's thread ever stands in one. */
import { closeSync, constants, openSync, statfsSync } from 'node:fs';
import { KernelError } from './errno.js';
import { isNetworkNamespace, namespaceCookie, openUnixSocket, setNetworkNamespace } from './libc.js';

/** linux/magic.h */
export const NSFS_MAGIC = 0x6e736673;
/** asm-generic/fcntl.h: names a file without opening it, so that a FIFO cannot block and a device does not notice. */
const O_PATH = 0o10000000;
/** The kernel's own link to a process's namespace: the only link that is followed. */
const magicLink = /^\/proc\/(?:\d+|self|thread-self)(?:\/task\/\d+)?\/ns\/net$/;

/** The path leads to something that is not a network namespace. */
export class NotANamespaceError extends Error {
  override readonly name = 'NotANamespaceError';
  constructor(readonly path: string) {
    super(`${path} is not a network namespace`);
  }
}

/** A network namespace held open: it lives at least until {@link close}, whatever happens to its path and its processes. */
export class Namespace {
  /** SO_NETNS_COOKIE: identifies the namespace until the next boot. */
  readonly cookie: bigint;
  private open = true;

  constructor(
    /** Where it was opened; what the path leads to may have changed since. */
    readonly path: string,
    readonly fd: number,
  ) {
    this.cookie = this.visit(readCookie);
  }

  is(other: Namespace): boolean {
    return this.cookie === other.cookie;
  }

  /**
   * Runs `fn` with the main thread standing in the namespace: what it opens, spawns or reads under /proc/sys/net belongs
   * there. It must be synchronous: the thread is back before anything else can run, and the process ends when it cannot
   * get back.
   */
  visit<T>(fn: () => T extends PromiseLike<unknown> ? never : T): T {
    if (!this.open) throw new KernelError('EBADF', `enter ${this.path}`);
    return visitAndReturn(() => {
      setNetworkNamespace(this.fd);
      return fn();
    });
  }

  /** A further descriptor of the same namespace, to be closed by whoever takes it. */
  duplicate(): Namespace {
    if (!this.open) throw new KernelError('EBADF', `duplicate ${this.path}`);
    return new Namespace(this.path, openSync(`/proc/self/fd/${this.fd}`, constants.O_RDONLY));
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    closeSync(this.fd);
  }
}

/** Runs `fn`, which may leave the thread's network namespace, and comes back from wherever it went. */
export function visitAndReturn<T>(fn: () => T): T {
  const home = openSync('/proc/thread-self/ns/net', constants.O_RDONLY);
  try {
    return fn();
  } finally {
    try {
      setNetworkNamespace(home);
    } catch (error) {
      // A thread left in a task's namespace would give that task whatever the service opens next.
      process.stderr.write(`cannot return to the service's own network namespace: ${String(error)}\n`);
      process.abort();
    }
    closeSync(home);
  }
}

/** The cookie of the namespace in which the thread stands. */
function readCookie(): bigint {
  const socket = openUnixSocket();
  try {
    return namespaceCookie(socket);
  } finally {
    closeSync(socket);
  }
}

function openPath(path: string): number {
  const follow = magicLink.test(path) ? 0 : constants.O_NOFOLLOW;
  try {
    return openSync(path, O_PATH | follow);
  } catch (error) {
    throw KernelError.fromFileSystem(error, `open ${path}`);
  }
}

/**
 * Opens a network namespace: a pin, Docker's sandbox key or /proc/<pid>/ns/net.
 * Throws {@link KernelError} when the path cannot be opened, {@link NotANamespaceError} when it is a link, a FIFO, a plain
 * file or a namespace of another kind. Nothing but a namespace is ever really opened.
 */
export function openNamespace(path: string): Namespace {
  const named = openPath(path);
  try {
    const link = `/proc/self/fd/${named}`;
    if (statfsSync(link).type !== NSFS_MAGIC) throw new NotANamespaceError(path);
    return hold(path, openSync(link, constants.O_RDONLY | constants.O_NONBLOCK));
  } finally {
    closeSync(named);
  }
}

function hold(path: string, fd: number): Namespace {
  try {
    if (!isNetworkNamespace(fd)) throw new NotANamespaceError(path);
    return new Namespace(path, fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The service's own network namespace: the host's. */
export function ownNamespace(): Namespace {
  return openNamespace('/proc/thread-self/ns/net');
}
