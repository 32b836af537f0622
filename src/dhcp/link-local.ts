import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Namespace } from '../kernel/namespaces.js';

/** linux/if_addr.h */
const IFA_F_DADFAILED = 0x08;
const IFA_F_TENTATIVE = 0x40;
/** IPV6_ADDR_LINKLOCAL as if_inet6 shows it (net/ipv6.h). */
const linkScope = '20';

/**
 * Whether the link has an fe80:: address that can be sent from, out of /proc/net/if_inet6: address, index, prefix length,
 * scope and flags in hexadecimal, then the link's name.
 */
export function hasUsableLinkLocal(table: string, link: string): boolean {
  return table.split('\n').some((line) => {
    const [, , , scope, flags = '', name] = line.trim().split(/\s+/);
    return name === link && scope === linkScope && (parseInt(flags, 16) & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) === 0;
  });
}

/**
 * Resolves once a DHCPv6 client can run on the link: dhclient -6 ends at once where there is no usable link-local address.
 * Rejects when the namespace cannot be opened any more, or with an AbortError.
 */
export async function linkLocalUsable(open: () => Namespace, link: string, signal: AbortSignal): Promise<void> {
  for (let looks = 0; !look(open, link); looks++) await delay(looks < 100 ? 100 : 2_000, undefined, { signal });
}

function look(open: () => Namespace, link: string): boolean {
  const namespace = open();
  try {
    // A kernel without IPv6 has no such file; the client would have nothing to run on, now or later.
    return hasUsableLinkLocal(
      namespace.visit(() => readFileSync('/proc/thread-self/net/if_inet6', 'utf8')),
      link,
    );
  } finally {
    namespace.close();
  }
}
