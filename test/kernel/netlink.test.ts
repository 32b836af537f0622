import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ipv4, type Ipv4Cidr, type Ipv6, type Ipv6Cidr, parseIpv4Cidr } from '../../src/addresses/cidr.js';
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

  const index = async (link: string): Promise<number> => (await session.linkByName(link))?.index ?? 0;
  const ip = (...args: string[]) => world.ip(name, ...args);

  it('sees the links of its own namespace only', async () => {
    ip('link', 'add', 'only0', 'type', 'ifb');
    expect((await session.links()).map((link) => link.name)).toEqual(['lo', 'only0']);
  });

  it('reads a link as the kernel shows it', async () => {
    ip('link', 'add', 'a0', 'address', mac, 'mtu', '1400', 'type', 'veth', 'peer', 'name', 'b0');
    ip('link', 'set', 'a0', 'alias', 'some alias', 'txqueuelen', '77', 'promisc', 'on', 'up');
    ip('link', 'property', 'add', 'dev', 'a0', 'altname', 'first0', 'altname', 'second0');
    ip('link', 'add', 'upper0', 'link', 'a0', 'type', 'macvlan');
    const peer = await session.linkByName('b0');
    const link = await session.linkByName('a0');
    expect(link).toMatchObject({ name: 'a0', kind: 'veth', mac, mtu: 1400, txQueueLength: 77, alias: 'some alias' });
    expect(link).toMatchObject({ up: true, permanentMac: undefined, altNames: ['first0', 'second0'] });
    expect(link).toMatchObject({ peerIndex: peer?.index, peerNamespaceId: undefined, master: undefined });
    expect(link).toMatchObject({ lowerIndex: undefined, operState: 'lowerlayerdown' });
    expect((link?.flags ?? 0) & 0x100).toBe(0x100);
    expect(await session.linkByName('second0')).toEqual(link);
    expect(await session.linkByIndex(link?.index ?? 0)).toEqual(link);
    expect(await session.linkByName('upper0')).toMatchObject({ kind: 'macvlan', lowerIndex: link?.index });
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

  it('takes off other names of a link', async () => {
    ip('link', 'add', 'c0', 'type', 'ifb');
    ip('link', 'property', 'add', 'dev', 'c0', 'altname', 'one0', 'altname', 'two0', 'altname', 'three0');
    await session.deleteAltNames(await index('c0'), ['one0', 'three0']);
    expect(await session.linkByName('c0')).toMatchObject({ altNames: ['two0'] });
  });

  it('adds and deletes addresses, and IPv6 ones are usable at once', async () => {
    ip('link', 'add', 'd0', 'type', 'ifb');
    const link = await index('d0');
    const ipv4 = parseIpv4Cidr('10.1.2.3/24') as Ipv4Cidr;
    const ipv6 = { address: '2001:db8::5', prefix: 64 } as Ipv6Cidr;
    await Promise.all([
      session.addAddress(link, ipv4),
      session.addAddress(link, ipv6),
      session.setLink(link, { up: true }),
    ]);
    const own = async () => (await session.addresses(link)).filter((address) => !address.address.startsWith('fe80'));
    expect(await own()).toMatchObject([ipv4, { ...ipv6, tentative: false, duplicate: false, permanent: true }]);
    await expect(session.addAddress(link, ipv4)).rejects.toMatchObject({ errno: 'EEXIST' });
    await session.deleteAddress(link, ipv4);
    await session.deleteAddress(link, ipv6);
    expect(await own()).toEqual([]);
  });

  it('sets, lists and deletes routes', async () => {
    ip('link', 'add', 'e0', 'up', 'type', 'ifb');
    ip('address', 'add', '10.5.0.1/24', 'dev', 'e0');
    const link = await index('e0');
    const destination = parseIpv4Cidr('10.6.0.0/16') as Ipv4Cidr;
    await session.replaceRoute({ destination, gateway: '10.5.0.9' as Ipv4, index: link });
    await session.replaceRoute({ destination, gateway: '10.5.0.2' as Ipv4, index: link });
    ip('route', 'add', '10.7.0.0/16', 'nexthop', 'via', '10.5.0.3', 'nexthop', 'via', '10.5.0.4');
    const routes = await session.routes(2);
    expect(routes.filter((route) => route.destination.address === '10.6.0.0')).toMatchObject([
      { destination, gateway: '10.5.0.2', index: link, hops: [link], table: 254, type: 'unicast' },
    ]);
    expect(routes.find((route) => route.destination.address === '10.7.0.0')?.hops).toEqual([link, link]);
    const blackhole = { destination: { address: 'fd00::1', prefix: 128 } as Ipv6Cidr, type: 'blackhole' as const };
    await session.replaceRoute(blackhole);
    expect(await session.routes(10)).toContainEqual(expect.objectContaining(blackhole));
    await session.deleteRoute(blackhole);
    await session.deleteRoute({ destination, gateway: '10.5.0.2' as Ipv4, index: link });
    expect(ip('route')).not.toContain('10.6.0.0');
  });

  it('deletes exactly the rule that was listed', async () => {
    ip('rule', 'add', 'from', '10.1.2.3', 'fwmark', '0x1/0xff', 'lookup', '100', 'priority', '500');
    ip('rule', 'add', 'from', '10.1.2.3', 'fwmark', '0x2/0xff', 'lookup', '100', 'priority', '500');
    const first = (await session.rules()).find((rule) => rule.priority === 500);
    expect(first).toMatchObject({ source: { address: '10.1.2.3', prefix: 32 }, table: 100, incoming: undefined });
    await session.deleteRule(first!);
    expect(ip('rule').match(/500:.*/g)).toEqual([expect.stringContaining('0x2/0xff')]);
    const ofIpv6 = (await session.rules()).filter((rule) => rule.family === 10);
    expect(ofIpv6.map((rule) => rule.table)).toEqual([255, 254]);
  });

  it('keeps permanent neighbours', async () => {
    ip('link', 'add', 'f0', 'up', 'type', 'veth', 'peer', 'name', 'g0');
    const link = await index('f0');
    const address = '10.8.0.2' as Ipv4;
    await session.setNeighbour(link, address, '02:00:00:00:00:07' as Mac);
    await session.setNeighbour(link, address, '02:00:00:00:00:08' as Mac);
    expect(await session.neighbours(link)).toEqual([
      { index: link, address, mac: '02:00:00:00:00:08', permanent: true },
    ]);
    await session.deleteNeighbour(link, address);
    expect(await session.neighbours(link)).toEqual([]);
    await expect(session.deleteNeighbour(link, address)).rejects.toMatchObject({ errno: 'ENOENT' });
  });

  it('makes a bridge whose port has a static forwarding entry and flags that the kernel confirms', async () => {
    const other = world.add();
    await session.createBridge('br0', mac, 1500);
    const bridge = await index('br0');
    const peer = { name: 'peer0', mac: '02:00:00:00:00:09' as Mac, mtu: 1500, namespace: world.open(other) };
    await session.createVeth({ name: 'port0', mtu: 1500 }, peer, bridge);
    const port = await index('port0');
    const flags = { isolated: true, learning: false, unicastFlood: false, multicastFlood: true, broadcastFlood: false };
    expect(await session.linkByName('port0')).toMatchObject({
      master: bridge,
      portFlags: { isolated: false, learning: true },
    });
    await session.setLink(port, { portFlags: flags, alias: 'marked' });
    expect(await session.linkByName('port0')).toMatchObject({ portFlags: flags, alias: 'marked' });
    await session.setForwardingEntry(port, peer.mac);
    expect(await session.forwardingEntries()).toContainEqual({ port, mac: peer.mac, isStatic: true });
    expect(world.exec(name, 'bridge', 'fdb', 'show', 'dev', 'port0')).toMatch(/02:00:00:00:00:09 master br0 static/);
    await session.deleteForwardingEntry(port, peer.mac);
    expect((await session.forwardingEntries()).filter((entry) => entry.isStatic)).toEqual([]);
    expect(await world.session(other).linkByName('peer0')).toMatchObject({ mac: peer.mac, peerIndex: port, up: false });
    await session.deleteLink(port);
    expect(await world.session(other).linkByName('peer0')).toBeUndefined();
  });

  it('knows no IPv6 neighbour as an IPv4 one', async () => {
    ip('-6', 'neighbour', 'add', '2001:db8::9', 'lladdr', mac, 'dev', 'f0');
    expect((await session.neighbours(await index('f0'))).map((entry) => entry.address as Ipv4 | Ipv6)).toEqual([]);
  });

  it('refuses what is asked of it after its end, and settles what was asked before', async () => {
    const short = world.session(name);
    const pending = [short.links(), short.links(), short.linkByName('lo')].map((answer) =>
      answer.catch((error: unknown) => error),
    );
    short.close();
    for (const answer of await Promise.all(pending)) expect(answer).toMatchObject({ errno: 'ECANCELED' });
    await expect(short.links()).rejects.toMatchObject({ errno: 'EBADF' });
  });
});
