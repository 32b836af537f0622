/** One service of an instance name on a host, whatever folders and mounts each has, in a container or not. */
import { closeSync } from 'node:fs';
import { endianness } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import koffi from 'koffi';
import { KernelError, isErrno } from './errno.js';
import { openUnixSocket } from './libc.js';
import { type Namespace, openNamespace } from './namespaces.js';
import { isPinned, pinNamespace, pinPath } from './pins.js';

const libc = koffi.load(null);
const nativeBind = libc.func('int bind(int fd, const uint8_t *address, uint32_t length)');

const AF_UNIX = 1;
const tryEvery = 50;

/** struct sockaddr_un with an abstract name: one in each network namespace, in no folder (unix(7)). */
function abstractAddress(name: string): Buffer {
  const family = Buffer.alloc(2);
  if (endianness() === 'LE') family.writeUInt16LE(AF_UNIX);
  else family.writeUInt16BE(AF_UNIX);
  return Buffer.concat([family, Buffer.from(`\0${name}`)]);
}

/**
 * Held as long as the service has a socket of a certain name in the bridge's namespace, which is one on the whole host. No
 * file could do this: /run and /var are each container's own, and a file lock of the namespace itself can be taken by
 * whoever may open it, which is everybody. To make a socket there takes the right to enter the namespace. The socket goes
 * with the process, however that ends, and no child inherits it.
 */
export class InstanceLock {
  private constructor(private readonly socket: number) {}

  /** Waits for a predecessor that is about to end; throws with a reason for people when it does not. */
  static async acquire(instance: string, patienceMs: number): Promise<InstanceLock> {
    for (const deadline = performance.now() + patienceMs; ; await sleep(tryEvery)) {
      const namespace = await pinNamespace(instance);
      try {
        const lock = InstanceLock.take(namespace);
        // Whoever lost a race to make the pin holds a namespace that nobody else will find.
        if (lock !== undefined && leadsTo(pinPath(instance), namespace)) return lock;
        lock?.release();
      } finally {
        namespace.close();
      }
      if (performance.now() > deadline)
        throw new Error(`another service with TASK_ENI_BRIDGE_NETNS=${instance} runs on this host`);
    }
  }

  /** Whether a service of that name runs; changes nothing. */
  static isHeld(instance: string): boolean {
    if (!isPinned(instance)) return false;
    const namespace = openNamespace(pinPath(instance));
    try {
      const lock = InstanceLock.take(namespace);
      lock?.release();
      return lock === undefined;
    } finally {
      namespace.close();
    }
  }

  private static take(namespace: Namespace): InstanceLock | undefined {
    const socket = namespace.visit(openUnixSocket);
    const address = abstractAddress('task-eni');
    if (nativeBind(socket, address, address.length) === 0) return new InstanceLock(socket);
    const refused = KernelError.fromNumber(koffi.errno(), `lock ${namespace.path}`);
    closeSync(socket);
    if (isErrno(refused, 'EADDRINUSE')) return undefined;
    throw refused;
  }

  release(): void {
    closeSync(this.socket);
  }
}

function leadsTo(path: string, namespace: Namespace): boolean {
  const found = openNamespace(path);
  found.close();
  return found.is(namespace);
}
