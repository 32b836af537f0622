import { expect, it } from 'vitest';
import { parseIpv4, parseIpv4Cidr, parseIpv6, parseIpv6Cidr } from '../../../src/addresses/cidr.js';
import { parseMac } from '../../../src/addresses/mac.js';
import { refuseGateways } from '../../../src/attachments/gateways.js';
import type { ResolvedEni } from '../../../src/attachments/plan.js';

/** Null for what is left out. */
function eni(ipv4?: string, ipv4Gateway?: string, ipv6?: string, ipv6Gateway?: string): ResolvedEni {
  const read = <T>(parse: (text: string) => T | undefined, text = '') => parse(text) ?? null;
  const mac = parseMac('02:00:00:00:00:01');
  if (mac === undefined) throw new Error('not a MAC');
  return {
    id: null,
    mac,
    ipv4: read(parseIpv4Cidr, ipv4),
    ipv4Gateway: read(parseIpv4, ipv4Gateway),
    ipv6: read(parseIpv6Cidr, ipv6),
    ipv6Gateway: read(parseIpv6, ipv6Gateway),
  };
}

it('takes a gateway of the subnet, the one that a VPC has, and a link-local one', () => {
  for (const usable of [
    eni('172.31.13.14/20', '172.31.15.254', '2001:db8:1::5/64', '2001:db8:1::1'),
    eni('172.31.13.14/20', undefined, '2001:db8:1::5/64'),
    eni('172.31.13.14/20', undefined, '2001:db8:1::5/64', 'fe80::1'),
  ])
    expect(() => refuseGateways(usable)).not.toThrow();
});

it.each([
  ['outside the subnet', eni('10.0.1.85/28', '10.0.1.97')],
  ['outside the subnet', eni('10.0.1.85/28', undefined, '2001:db8:1::5/64', '2001:db8:2::1')],
  ['own address', eni('10.0.1.85/28', '10.0.1.85')],
  ['own address', eni('10.0.1.81/28')],
  ['own address', eni(undefined, undefined, '2001:db8:1::5/64', '2001:db8:1::5')],
  ['no IPv4 address', eni(undefined, '10.0.1.81', '2001:db8:1::5/64')],
  ['no IPv6 address', eni('10.0.1.85/28', undefined, undefined, 'fe80::1')],
])('refuses a gateway that cannot be reached: %s', (reason, unusable) => {
  expect(() => refuseGateways(unusable)).toThrow(expect.objectContaining({ code: 'unusable-eni' }));
  expect(() => refuseGateways(unusable)).toThrow(reason);
});
