/** Settings under /proc/sys/net. The folder shows the namespace of the thread that opens it, so each access is a visit. */
import { readFileSync, writeFileSync } from 'node:fs';
import { KernelError, isErrno } from './errno.js';
import type { Namespace } from './namespaces.js';

/** A key in the slash form of sysctl(8), e.g. `net/ipv6/conf/eth0/accept_ra`: a link's name may have dots. */
export type SysctlKey = `net/${string}`;

function pathOf(key: SysctlKey): string {
  if (key.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw new TypeError(`${key} is not a sysctl key`);
  return `/proc/sys/${key}`;
}

/** The value without its line end. Throws ENOENT when the kernel lacks the key. */
export function readSysctl(namespace: Namespace, key: SysctlKey): string {
  const path = pathOf(key);
  try {
    return namespace.visit(() => readFileSync(path, 'utf8').trimEnd());
  } catch (error) {
    throw KernelError.fromFileSystem(error, `read ${key}`);
  }
}

export function writeSysctl(namespace: Namespace, key: SysctlKey, value: string | number): void {
  writeSysctls(namespace, [[key, value]]);
}

/** Writes all of them, in their order, in one visit. Stops at the first that is refused; ENOENT: the kernel lacks the key. */
export function writeSysctls(
  namespace: Namespace,
  settings: readonly (readonly [key: SysctlKey, value: string | number])[],
): void {
  namespace.visit(() => {
    for (const [key, value] of settings) {
      try {
        writeFileSync(pathOf(key), String(value));
      } catch (error) {
        throw KernelError.fromFileSystem(error, `write ${key}`);
      }
    }
  });
}

/** The same for keys that a kernel without IPv6 lacks: false when it does. */
export function writeIpv6Sysctls(namespace: Namespace, settings: Parameters<typeof writeSysctls>[1]): boolean {
  try {
    writeSysctls(namespace, settings);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
