import { describe, expect, it } from 'vitest';
import type { Mac } from '../../../src/addresses/mac.js';
import {
  type EniIdentity,
  findAtHome,
  findCandidates,
  findEni,
  findInTask,
  stackedOn,
} from '../../../src/eni/eni-search.js';
import { eniMac, link } from './link.js';

const otherMac = '02:00:00:00:00:02' as Mac;

describe('the ENI among the links of a host', () => {
  it('is the one with its MAC, of whatever kind', () => {
    const links = [link(1, 'lo', { mac: undefined }), link(2, 'eth0', { mac: otherMac }), link(3, 'eth1')];
    expect(findEni(links, eniMac)?.name).toBe('eth1');
    expect(findEni([link(4, 'eni0', { kind: 'veth', peerIndex: 3 })], eniMac)?.name).toBe('eni0');
    expect(findEni(links, '02:00:00:00:00:03' as Mac)).toBeUndefined();
  });

  it('is known by its permanent address when the host gave it another', () => {
    expect(findEni([link(2, 'eth1', { mac: otherMac, permanentMac: eniMac })], eniMac)?.name).toBe('eth1');
  });

  it.each(['bridge', 'bond', 'vlan', 'macvlan', 'ipvlan'])('is never a %s', (kind) => {
    expect(findCandidates([link(2, 'eth1'), link(3, 'upper0', { kind })], eniMac).map((found) => found.name)).toEqual([
      'eth1',
    ]);
  });

  it('is never what is stacked on it, or has it as a port, of whatever kind', () => {
    const links = [
      link(2, 'eth1', { master: 4 }),
      link(3, 'odd0', { kind: 'odd', lowerIndex: 2 }),
      link(4, 'odder0', { kind: 'odder' }),
    ];
    expect(findEni(links, eniMac)?.name).toBe('eth1');
  });

  it('is not chosen between two', () => {
    const two = [link(3, 'eth2'), link(2, 'eth1', { kind: 'veth', peerIndex: 9 })];
    expect(() => findEni(two, eniMac)).toThrow('several links bear the MAC address 02:00:00:00:00:01: eth1, eth2');
  });
});

describe('the ENI in a task', () => {
  const alias = 'te:test:0123456789abcdef0123:9001,1000,4098,eth1';
  const physical: EniIdentity = { alias, mac: eniMac, index: 7, kind: null, peerIndex: null, permanentMac: eniMac };
  const veth: EniIdentity = { alias, mac: eniMac, index: 7, kind: 'veth', peerIndex: 5, permanentMac: null };
  const decoy = link(3, 'eth0', { kind: 'veth', peerIndex: 2, alias });

  it.each([
    ['index with kind and peer', veth, link(7, 'x', { kind: 'veth', peerIndex: 5, mac: otherMac, alias: 'mine' })],
    ['permanent address', physical, link(9, 'x', { permanentMac: eniMac, mac: otherMac, alias: 'mine' })],
  ])('is found by its %s, whatever bears its name, mark and MAC', (_by, identity, eni) => {
    expect(findInTask([decoy, eni], identity)).toBe(eni);
  });

  it('is found by its mark, then by its MAC', () => {
    const marked = link(9, 'x', { kind: 'veth', peerIndex: 4, mac: otherMac, alias });
    const plain = link(8, 'y', { kind: 'veth', peerIndex: 3 });
    expect(findInTask([plain, marked], { ...veth, index: null })).toBe(marked);
    expect(findInTask([plain], { ...veth, index: null })).toBe(plain);
  });

  it('is not taken for a link that got its index', () => {
    const others = [link(7, 'x', { kind: 'veth', peerIndex: 6, mac: otherMac }), link(7, 'x', { mac: otherMac })];
    for (const other of others) expect(findInTask([other], veth)).toBeUndefined();
    expect(findInTask([link(7, 'x', { permanentMac: otherMac, mac: otherMac })], physical)).toBeUndefined();
  });

  it('is not guessed when two have its MAC and neither its mark', () => {
    expect(findInTask([link(8, 'x'), link(9, 'y')], { ...physical, index: null })).toBeUndefined();
  });

  it('is not known by its index once it is at home', () => {
    expect(findAtHome([link(7, 'eth0', { kind: 'veth', peerIndex: 5, mac: otherMac })], veth)).toBeUndefined();
    expect(findAtHome([link(2, 'eth0', { mac: otherMac }), link(9, 'eth1', { alias })], veth)?.name).toBe('eth1');
  });

  it('carries what is stacked on it, but not the other end of a pair', () => {
    const eni = link(7, 'eth0');
    const upper = link(8, 'mv0', { kind: 'macvlan', lowerIndex: 7 });
    const foreign = link(9, 'mv1', { kind: 'macvlan', lowerIndex: 7, peerNamespaceId: 0 });
    expect(stackedOn(eni, [eni, upper, foreign, link(10, 'v0', { kind: 'veth', peerIndex: 7 })])).toEqual([upper]);
  });
});
