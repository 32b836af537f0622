/** Settings under /proc/sys/net. The folder shows the namespace of the thread that opens it, so each access is a visit. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { KernelError } from './errno.js';
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

/**
 * Sets all of them, in their order, in one visit; what has its value already is not written, since writing some of them
 * (disable_ipv6) spins for as long as anybody on the host holds RTNL. Stops at the first that is refused; ENOENT: the kernel
 * lacks the key.
 */
export function writeSysctls(
  namespace: Namespace,
  settings: readonly (readonly [key: SysctlKey, value: string | number])[],
): void {
  namespace.visit(() => {
    for (const [key, value] of settings) {
      const path = pathOf(key);
      try {
        if (readFileSync(path, 'utf8').trimEnd() !== String(value)) writeFileSync(path, String(value));
      } catch (error) {
        throw KernelError.fromFileSystem(error, `set ${key}`);
      }
    }
  });
}

/** False on a kernel built or booted without IPv6, where every request about it fails. */
export function kernelHasIpv6(): boolean {
  return existsSync('/proc/sys/net/ipv6');
}

/** The same for IPv6 settings: writes nothing, and says false, when the kernel has no IPv6. */
export function writeIpv6Sysctls(namespace: Namespace, settings: Parameters<typeof writeSysctls>[1]): boolean {
  if (!kernelHasIpv6()) return false;
  writeSysctls(namespace, settings);
  return true;
}
