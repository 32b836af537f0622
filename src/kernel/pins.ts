/** Namespaces kept by a name under /run/netns, as `ip netns` keeps them: a bind mount that holds one without a process. */
import { closeSync, lstatSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { blocking } from './blocking-queue.js';
import { KernelError, isErrno } from './errno.js';
import { makeFolder } from './folder.js';
import { mount, mountFlags, unmount, unshareNetworkNamespace } from './libc.js';
import { type Namespace, NotANamespaceError, openNamespace, ownNamespace, visitAndReturn } from './namespaces.js';
import { NetlinkSession } from './netlink.js';
import { writeSysctl } from './sysctl.js';

export const pinFolder = '/run/netns';
const loopbackIndex = 1;

export function pinPath(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/.test(name)) throw new TypeError(`${name} cannot name a namespace`);
  return `${pinFolder}/${name}`;
}

/** Makes the folder a shared mount, as `ip netns add` does, so that a pin is seen, and its removal too, in every mount namespace. */
export function sharePinFolder(): void {
  makeFolder(pinFolder, 0o755);
  try {
    mount('', pinFolder, mountFlags.shared | mountFlags.recursive);
  } catch (error) {
    // EINVAL: the folder is not a mount point yet.
    if (!isErrno(error, 'EINVAL')) throw error;
    mount(pinFolder, pinFolder, mountFlags.bind | mountFlags.recursive);
    mount('', pinFolder, mountFlags.shared | mountFlags.recursive);
  }
}

function openPin(path: string): Namespace | undefined {
  try {
    return openNamespace(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    // What a reboot or a crash between two calls leaves behind: the empty file that the mount would cover.
    if (error instanceof NotANamespaceError && isPlaceholder(path)) return undefined;
    throw error;
  }
}

function isPlaceholder(path: string): boolean {
  const file = lstatSync(path);
  return file.isFile() && file.size === 0;
}

export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `remove ${path}`);
    if (!isErrno(failure, 'ENOENT')) throw failure;
  }
}

function mountOn(path: string, namespaceFile: string): void {
  removeFile(path);
  try {
    closeSync(openSync(path, 'wx', 0));
  } catch (error) {
    throw KernelError.fromFileSystem(error, `create ${path}`);
  }
  try {
    mount(namespaceFile, path, mountFlags.bind);
  } catch (error) {
    removeFile(path);
    throw error;
  }
}

function createPin(path: string): Namespace {
  visitAndReturn(() => {
    unshareNetworkNamespace();
    mountOn(path, '/proc/thread-self/ns/net');
  });
  return openNamespace(path);
}

/**
 * The namespace pinned under that name, made when there is none: forwarding off (a new namespace inherits the host's
 * ip_forward, which Docker sets), `lo` up.
 */
export async function pinNamespace(name: string): Promise<Namespace> {
  const path = pinPath(name);
  sharePinFolder();
  const namespace = openPin(path) ?? (await blocking(() => openPin(path) ?? createPin(path)));
  try {
    refuseOwn(namespace);
    writeSysctl(namespace, 'net/ipv4/ip_forward', 0);
    const session = NetlinkSession.open(namespace);
    await session.setLink(loopbackIndex, { up: true }).finally(() => session.close());
  } catch (error) {
    namespace.close();
    throw error;
  }
  return namespace;
}

/** `ip netns attach` can give the host's own namespace a name; what is set in a pin must never be set there. */
function refuseOwn(namespace: Namespace): void {
  const own = ownNamespace();
  own.close();
  if (namespace.is(own)) throw new TypeError(`${namespace.path} is the namespace of the service itself`);
}

/** Gives a namespace that is still open its name back after the pin was removed. */
export function repinNamespace(name: string, namespace: Namespace): void {
  sharePinFolder();
  mountOn(pinPath(name), `/proc/self/fd/${namespace.fd}`);
}

/** Removes the pin; the namespace ends with its last process and descriptor. False when there was nothing. */
export async function unpinNamespace(name: string): Promise<boolean> {
  const path = pinPath(name);
  return blocking(() => {
    const existed = isPinned(name);
    // Whoever lost a race to make the pin has mounted a second one over it.
    while (isPinned(name)) unmount(path);
    if (!exists(path)) return existed;
    if (!isPlaceholder(path)) throw new NotANamespaceError(path);
    removeFile(path);
    return existed;
  });
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether a namespace, not merely a file, is found under that name. */
export function isPinned(name: string): boolean {
  const path = pinPath(name);
  try {
    const namespace = openPin(path);
    namespace?.close();
    return namespace !== undefined;
  } catch (error) {
    if (error instanceof NotANamespaceError) return false;
    throw error;
  }
}

/** The names of all pins, whoever made them. */
export function pinnedNames(): string[] {
  try {
    return readdirSync(pinFolder);
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `list ${pinFolder}`);
    if (isErrno(failure, 'ENOENT')) return [];
    throw failure;
  }
}
