import { type Ipv6Cidr, contains, firstUsable, parseIpv6Cidr } from '../addresses/cidr.js';
import { TaskEniError } from '../errors.js';
import type { ResolvedEni } from './plan.js';

/** Addresses that are valid on every link, whatever its subnet (RFC 4291, section 2.5.6). */
const linkLocal = parseIpv6Cidr('fe80::/10') as Ipv6Cidr;

/**
 * Refuses a gateway that the kernel could not reach from the ENI's address (ENETUNREACH, EINVAL), before anything is touched.
 * Pure.
 */
export function refuseGateways({ ipv4, ipv4Gateway, ipv6, ipv6Gateway }: ResolvedEni): void {
  if (ipv4Gateway !== null && ipv4 === null) throw unusable(ipv4Gateway, 'is given, and the ENI has no IPv4 address');
  if (ipv6Gateway !== null && ipv6 === null) throw unusable(ipv6Gateway, 'is given, and the ENI has no IPv6 address');
  if (ipv4 !== null) {
    const gateway = ipv4Gateway ?? firstUsable(ipv4);
    if (!contains(ipv4, gateway)) throw unusable(gateway, `is outside the subnet of ${ipv4.address}/${ipv4.prefix}`);
    if (gateway === ipv4.address) throw unusable(gateway, "is the ENI's own address");
  }
  if (ipv6 !== null && ipv6Gateway !== null) {
    if (!contains(linkLocal, ipv6Gateway) && !contains(ipv6, ipv6Gateway))
      throw unusable(ipv6Gateway, `is outside the subnet of ${ipv6.address}/${ipv6.prefix}`);
    if (ipv6Gateway === ipv6.address) throw unusable(ipv6Gateway, "is the ENI's own address");
  }
}

function unusable(gateway: string, what: string): TaskEniError {
  return new TaskEniError('unusable-eni', `the gateway ${gateway} ${what}`);
}
