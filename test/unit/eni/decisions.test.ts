import { describe, expect, it } from 'vitest';
import { parseIpv4Cidr } from '../../../src/addresses/cidr.js';
import type { Mac } from '../../../src/addresses/mac.js';
import { homeChange } from '../../../src/eni/bring-home.js';
import { type EniPlan, ipv6Settings, routesOf } from '../../../src/eni/configure.js';
import { rulesOf } from '../../../src/eni/host-config.js';
import type { Rule } from '../../../src/kernel/rule-message.js';
import { eniMac, link } from './link.js';

describe('the rules of a link', () => {
  const address = {
    ...parseIpv4Cidr('172.31.1.5/20')!,
    index: 3,
    family: 2,
    scope: 0,
    tentative: false,
    duplicate: false,
    permanent: true,
  } as const;
  const rule = (properties: Partial<Rule>): Rule => ({
    family: 2,
    priority: 100,
    table: 254,
    source: undefined,
    incoming: undefined,
    outgoing: undefined,
    message: Buffer.alloc(0),
    ...properties,
  });
  const found = (rules: Rule[], hops: number[][] = []) => {
    const routes = hops.map((indexes) => ({ family: 2, table: 101, hops: indexes }) as never);
    return rulesOf({ index: 3, name: 'eth1' }, { addresses: [address], rules, routes }).length;
  };

  it('come from one of its addresses, and not from a subnet or another address', () => {
    expect(found([rule({ source: parseIpv4Cidr('172.31.1.5/32')! })])).toBe(1);
    expect(
      found([rule({ source: parseIpv4Cidr('172.31.1.5/20')! }), rule({ source: parseIpv4Cidr('172.31.1.6/32')! })]),
    ).toBe(0);
  });

  it('name it', () => {
    expect(found([rule({ incoming: 'eth1' }), rule({ outgoing: 'eth1' }), rule({ incoming: 'eth10' })])).toBe(2);
  });

  it('lead to a table of its own, and not to one that is empty, shared or everybody’s', () => {
    const leading = [rule({ table: 101 })];
    expect(found(leading, [[3], [3]])).toBe(1);
    expect(found(leading, [[3], [2]])).toBe(0);
    expect(found(leading, [[3, 2]])).toBe(0);
    expect(found(leading, [[]])).toBe(0);
    expect(found(leading)).toBe(0);
    expect(found([rule({ table: 254 }), rule({ table: 255 })])).toBe(0);
  });
});

describe('what an ENI is told inside its task', () => {
  const plan: EniPlan = {
    interface: 'eth0',
    ipv4: parseIpv4Cidr('172.31.1.5/20')!,
    ipv4Gateway: '172.31.0.1' as never,
    mtu: 9001,
    ipv6: { address: '2001:db8::5' as never, prefix: 64 },
    ipv6Gateway: null,
    blockInstanceMetadata: true,
  };
  const settings = (changes: Partial<EniPlan>) => Object.fromEntries(ipv6Settings({ ...plan, ...changes }));

  it('leads first and blocks then, so that a block that fails leaves no task without a route', () => {
    expect(routesOf(plan, 7, true).map((route) => [route.destination.address, route.gateway ?? route.type])).toEqual([
      ['0.0.0.0', '172.31.0.1'],
      ['169.254.169.254', 'blackhole'],
      ['fd00:ec2::254', 'blackhole'],
    ]);
    expect(routesOf(plan, 7, false)).toHaveLength(2);
    expect(routesOf({ ...plan, ipv4Gateway: null, blockInstanceMetadata: false }, 7, true)).toEqual([]);
  });

  it('hears routers only when its gateway is theirs to tell', () => {
    expect(settings({})).toMatchObject({ 'net/ipv6/conf/eth0/accept_ra': 2, 'net/ipv6/conf/eth0/autoconf': 0 });
    expect(settings({ ipv6Gateway: 'fe80::1' as never })).toMatchObject({ 'net/ipv6/conf/eth0/accept_ra': 0 });
  });

  it('leaves IPv6 on or off as it found it without an IPv6 address, but makes none from advertisements', () => {
    expect(settings({ ipv6: null })).toEqual({
      'net/ipv6/conf/eth0/accept_dad': 0,
      'net/ipv6/conf/eth0/autoconf': 0,
      'net/ipv6/conf/eth0/accept_ra': 0,
    });
  });

  it('turns IPv6 on everywhere before the ENI, since `all` sets every link', () => {
    expect(Object.keys(settings({})).filter((key) => key.endsWith('disable_ipv6'))).toEqual([
      'net/ipv6/conf/all/disable_ipv6',
      'net/ipv6/conf/default/disable_ipv6',
      'net/ipv6/conf/eth0/disable_ipv6',
    ]);
  });
});

describe('what is set on the way home', () => {
  const former = { name: 'eth1', mtu: 9001, txQueueLength: 1000, flags: 0x1100 };

  it('is only what differs, since a driver may refuse to set what it has', () => {
    expect(homeChange(link(7, 'eth0', { flags: 0x1103, up: true }), former, eniMac)).toEqual({ up: false, alias: '' });
  });

  it('is everything that the task changed', () => {
    const changed = link(7, 'eth0', { mtu: 1400, txQueueLength: 5, flags: 0x1283, mac: '02:99:00:00:00:99' as Mac });
    expect(homeChange(changed, former, eniMac)).toEqual({
      up: false,
      alias: '',
      mac: eniMac,
      mtu: 9001,
      txQueueLength: 1000,
      flags: { mask: 0x380, value: 0x100 },
    });
  });
});
