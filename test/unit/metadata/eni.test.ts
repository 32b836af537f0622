import { describe, expect, it } from 'vitest';
import { judge, parseMacListing, readIpv4, readIpv6 } from '../../../src/metadata/eni.js';

const v4 = { 'local-ipv4s': '172.31.13.14', 'subnet-ipv4-cidr-block': '172.31.0.0/20' };
const v6 = { ipv6s: '2001:db8:1::5', 'subnet-ipv6-cidr-blocks': '2001:db8:1::/64' };

describe('the listing of MACs', () => {
  it('is read without the slashes at its lines ends, and in either case', () => {
    expect(parseMacListing('02:00:00:00:00:01/\n02:00:00:00:00:AB/\n')).toEqual([
      '02:00:00:00:00:01',
      '02:00:00:00:00:ab',
    ]);
  });

  it('may be absent, and what is no MAC in it is left out', () => {
    expect(parseMacListing(undefined)).toEqual([]);
    expect(parseMacListing('not-a-mac/\n')).toEqual([]);
  });
});

describe('the IPv4 side of an ENI', () => {
  it("takes the first address as the primary one, with the subnet's prefix", () => {
    expect(readIpv4({ ...v4, 'local-ipv4s': '172.31.13.14\n172.31.13.99' })).toEqual({
      state: 'complete',
      cidr: { address: '172.31.13.14', prefix: 20 },
      unused: ['172.31.13.99'],
    });
  });

  it('is absent without a sign of it, and partial with one', () => {
    expect(readIpv4(v6)).toEqual({ state: 'absent' });
    expect(readIpv4({ 'local-ipv4s': '172.31.13.14' })).toEqual({
      state: 'partial',
      missing: ['subnet-ipv4-cidr-block'],
    });
    expect(readIpv4({ 'subnet-ipv4-cidr-block': '172.31.0.0/20' })).toEqual({
      state: 'partial',
      missing: ['local-ipv4s'],
    });
  });

  it.each(['172.31.0.0/15', '172.31.13.12/30'])('refuses the subnet %s, which no VPC can have', (block) => {
    expect(() => readIpv4({ ...v4, 'subnet-ipv4-cidr-block': block })).toThrowError(
      expect.objectContaining({ code: 'unusable-eni' }),
    );
  });

  it('does not believe a subnet that the address is not in', () => {
    expect(readIpv4({ ...v4, 'subnet-ipv4-cidr-block': '10.0.0.0/20' }).state).toBe('partial');
  });

  it('does not take text that is no address for one', () => {
    expect(readIpv4({ ...v4, 'local-ipv4s': 'soon' })).toEqual({ state: 'partial', missing: ['local-ipv4s'] });
  });
});

describe('the IPv6 side of an ENI', () => {
  it('has the prefix of the block that holds the address, which need not be the first', () => {
    const blocks = '2001:db8:9::/64\n2001:db8:1::/64';
    expect(readIpv6({ ipv6s: '2001:0DB8:1::0005', 'subnet-ipv6-cidr-blocks': blocks })).toEqual({
      state: 'complete',
      cidr: { address: '2001:db8:1::5', prefix: 64 },
      unused: [],
    });
  });

  it('is absent without a sign of it, and partial with one', () => {
    expect(readIpv6(v4)).toEqual({ state: 'absent' });
    expect(readIpv6({ 'subnet-ipv6-cidr-blocks': '2001:db8:1::/64' })).toEqual({
      state: 'partial',
      missing: ['ipv6s'],
    });
    expect(readIpv6({ ipv6s: '2001:db8:1::5' })).toEqual({ state: 'partial', missing: ['subnet-ipv6-cidr-blocks'] });
  });
});

describe('the judgement', () => {
  const families = (keys: object) => ({ ipv4: readIpv4(keys), ipv6: readIpv6(keys) });
  const certain = { certain: true, settled: false };

  it('is complete with both families, and with either alone when there is no sign of the other', () => {
    expect(judge(families({ ...v4, ...v6 }), certain)).toMatchObject({ kind: 'complete', warnings: [] });
    expect(judge(families(v4), certain)).toMatchObject({ kind: 'complete', ipv6: null, warnings: [] });
    expect(judge(families(v6), certain)).toMatchObject({ kind: 'complete', ipv4: null, warnings: [] });
  });

  it('waits for a family whose subnet is listed, and in the end goes without it and says so', () => {
    const lagging = families({ ...v4, 'subnet-ipv6-cidr-blocks': '2001:db8:1::/64' });
    expect(judge(lagging, certain)).toEqual({ kind: 'wait', missing: ['ipv6s'] });
    expect(judge(lagging, { certain: true, settled: true })).toMatchObject({
      kind: 'complete',
      ipv6: null,
      warnings: [expect.stringContaining('no IPv6 address')],
    });
  });

  it('never goes without any address', () => {
    expect(judge(families({}), { certain: false, settled: true })).toEqual({
      kind: 'wait',
      missing: ['local-ipv4s', 'subnet-ipv4-cidr-block'],
    });
  });

  it('does not take silence for absence: an ENI that metadata does not know yet may have a second family', () => {
    const given = { ipv4: readIpv4(v4), ipv6: { state: 'absent' } } as const;
    expect(judge(given, { certain: false, settled: false }).kind).toBe('wait');
    expect(judge(given, { certain: false, settled: true })).toMatchObject({
      kind: 'complete',
      warnings: [expect.stringContaining('did not tell')],
    });
  });

  it('names the addresses that are left out', () => {
    expect(judge(families({ ...v4, 'local-ipv4s': '172.31.13.14\n172.31.13.99' }), certain)).toMatchObject({
      warnings: ["the ENI's further addresses are not configured: 172.31.13.99"],
    });
  });
});
