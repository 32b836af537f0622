import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ipv4, Ipv6 } from '../../src/addresses/cidr.js';
import type { Mac } from '../../src/addresses/mac.js';
import { KernelError } from '../../src/kernel/errno.js';
import type { NetlinkSession } from '../../src/kernel/netlink.js';
import { World } from './world.js';

const mac = '02:00:00:00:00:01' as Mac;

describe('a netlink session', () => {
  let world: World;
  let session: NetlinkSession;
  let name: string;

  beforeAll(() => {
    world = new World();
    name = world.add();
    session = world.session(name);
  });
  afterAll(() => world.close());

  it('sees the links of its own namespace only', async () => {
    world.ip(name, 'link', 'add', 'only0', 'type', 'dummy');
    expect((await session.links()).map((link) => link.name)).toEqual(['lo', 'only0']);
  });

  it('reads a link as the kernel shows it', async () => {
    world.ip(name, 'link', 'add', 'a0', 'address', mac, 'mtu', '1400', 'type', 'veth', 'peer', 'name', 'b0');
    world.ip(name, 'link', 'set', 'a0', 'alias', 'some alias', 'txqueuelen', '77', 'promisc', 'on', 'up');
    world.ip(name, 'link', 'property', 'add', 'dev', 'a0', 'altname', 'first0', 'altname', 'second0');
    const peer = await session.linkByName('b0');
    const link = await session.linkByName('a0');
    expect(link).toMatchObject({ name: 'a0', kind: 'veth', mac, mtu: 1400, txQueueLength: 77, alias: 'some alias' });
    expect(link).toMatchObject({ up: true, permanentMac: undefined, altNames: ['first0', 'second0'] });
    expect(link).toMatchObject({ peerIndex: peer?.index, peerNamespaceId: undefined, master: undefined });
    expect((link?.flags ?? 0) & 0x100).toBe(0x100);
    expect(await session.linkByName('second0')).toEqual(link);
    expect(await session.linkByIndex(link?.index ?? 0)).toEqual(link);
  });

  it('answers undefined for a link that is not there', async () => {
    expect(await session.linkByName('nothing0')).toBeUndefined();
    expect(await session.linkByIndex(4242)).toBeUndefined();
  });

  it('tells the errno and the operation of what the kernel refuses', async () => {
    const error = await session.setLink(4242, { up: true }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KernelError);
    expect(error).toMatchObject({ errno: 'ENODEV', operation: 'set link 4242' });
    await expect(session.createBridge('a0', mac, 1500)).rejects.toMatchObject({ errno: 'EEXIST' });
  });

  it('adds and deletes addresses, and IPv6 ones are usable at once', async () => {
    world.ip(name, 'link', 'add', 'c0', 'type', 'dummy');
    const index = (await session.linkByName('c0'))?.index ?? 0;
    const cidr4 = { address: '10.1.2.3' as Ipv4, prefix: 24 };
    const cidr6 = { address: '2001:db8::5' as Ipv6, prefix: 64 };
    await Promise.all([
      session.addAddress(index, cidr4),
      session.addAddress(index, cidr6),
      session.setLink(index, { up: true }),
    ]);
    const found = (await session.addresses(index)).filter((address) => !address.address.startsWith('fe80'));
    expect(found).toMatchObject([cidr4, { ...cidr6, tentative: false, duplicate: false, permanent: true }]);
    await session.deleteAddress(index, cidr4);
    await session.deleteAddress(index, cidr6);
    expect((await session.addresses(index)).filter((address) => !address.address.startsWith('fe80'))).toEqual([]);
  });
});
