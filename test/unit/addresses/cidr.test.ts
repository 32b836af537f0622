import { describe, expect, it } from 'vitest';
import {
  type Ipv4,
  type Ipv4Cidr,
  addressFromBytes,
  addressToBytes,
  contains,
  firstUsable,
  formatCidr,
  parseIpv4,
  parseIpv4Cidr,
  parseIpv6,
  parseIpv6Cidr,
  subnetOf,
} from '../../../src/addresses/cidr.js';
import { macFromBytes, macToBytes, parseMac } from '../../../src/addresses/mac.js';

const cidr = (text: string) => parseIpv4Cidr(text) as Ipv4Cidr;

describe('addresses', () => {
  it.each(['1.2.3', '1.2.3.256', '0x1.2.3.4', '01.2.3.4.5', '', 'a.b.c.d', '1.2.3.4/8'])(
    'refuses %j as an IPv4 address',
    (text) => expect(parseIpv4(text)).toBeUndefined(),
  );

  it.each(['fe80::1%eth0', '::ffff:1.2.3.4', '1::2::3', 'g::', ''])('refuses %j as an IPv6 address', (text) =>
    expect(parseIpv6(text)).toBeUndefined(),
  );

  it('writes an IPv6 address as RFC 5952 does', () => {
    expect(parseIpv6('2001:0DB8:0001:0:0:0:0:0005')).toBe('2001:db8:1::5');
  });

  it('keeps the host part of a CIDR, and clears it for the subnet', () => {
    expect(formatCidr(cidr('172.31.13.14/20'))).toBe('172.31.13.14/20');
    expect(formatCidr(subnetOf(cidr('172.31.13.14/20')))).toBe('172.31.0.0/20');
  });

  it('finds the first usable address of a subnet that does not begin at .0', () => {
    expect(firstUsable(cidr('10.0.1.85/28'))).toBe('10.0.1.81');
    expect(firstUsable(cidr('255.255.255.250/28'))).toBe('255.255.255.241');
  });

  it.each(['10.0.0.1', '10.0.0.1/33', '10.0.0.1/', '10.0.0.1/-1', '10.0.0/8'])('refuses %j as a CIDR', (text) =>
    expect(parseIpv4Cidr(text)).toBeUndefined(),
  );

  it('knows what lies in a subnet', () => {
    expect(contains(cidr('172.31.13.14/20'), '172.31.15.255' as Ipv4)).toBe(true);
    expect(contains(cidr('172.31.13.14/20'), '172.31.16.0' as Ipv4)).toBe(false);
  });

  it('goes to bytes and back in both families', () => {
    for (const text of ['169.254.172.255', '2001:db8:1::5'])
      expect(addressFromBytes(addressToBytes(text as Ipv4))).toBe(text);
    expect(parseIpv6Cidr('2001:db8:1::5/64')).toEqual({ address: '2001:db8:1::5', prefix: 64 });
  });
});

describe('hardware addresses', () => {
  it('are read in either case, with colons or dashes', () => {
    expect(parseMac('02-AB-00-00-00-01')).toBe('02:ab:00:00:00:01');
    expect(parseMac('02:ab:00:00:00:01')).toBe('02:ab:00:00:00:01');
  });

  it.each(['02:ab:00:00:00', '02:ab:00:00:00:01/', '02ab.0000.0001', 'zz:ab:00:00:00:01', ''])('refuse %j', (text) =>
    expect(parseMac(text)).toBeUndefined(),
  );

  it('go to bytes and back', () => {
    expect(macFromBytes(macToBytes(parseMac('02:ab:00:00:00:ff')!))).toBe('02:ab:00:00:00:ff');
    expect(macFromBytes(Buffer.alloc(20))).toBeUndefined();
  });
});
