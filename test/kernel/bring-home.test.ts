import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bringHome } from '../../src/eni/bring-home.js';
import { EniWorld, eniMac } from './eni-world.js';

describe('an ENI on its way home', () => {
  let world: EniWorld;
  beforeEach(() => {
    world = new EniWorld();
  });
  afterEach(() => world.close());

  const asBefore = { name: 'eni0', mac: eniMac, mtu: 9001, alias: '', up: false, master: undefined };
  const inTask = (...args: string[]) => world.ip(world.taskName, ...args);
  const onHost = (...args: string[]) => world.ip(world.hostName, ...args);

  it('arrives under its name, down, unmarked and bare', async () => {
    const { link, identity, former } = await world.moveIn();
    expect(link).toMatchObject({ name: 'te0123456789', alias: identity.alias, up: false, mac: eniMac });
    inTask('address', 'add', '10.0.0.5/24', 'dev', link.name);
    inTask('link', 'set', link.name, 'up');
    const home = await world.bringHome(identity, former);
    expect(home).toMatchObject({ ...asBefore, txQueueLength: former.txQueueLength });
    expect(await world.host.session.addresses(home?.index)).toEqual([]);
    expect(await world.bringHome(identity, former)).toEqual(home);
  });

  it('gets back what the task changed: name, MAC, MTU, queue, flags, mark', async () => {
    const { link, identity, former } = await world.moveIn();
    inTask(
      'link',
      'set',
      link.name,
      'name',
      'eth7',
      'address',
      '02:99:00:00:00:99',
      'mtu',
      '1400',
      'txqueuelen',
      '5',
      'alias',
      'mine',
    );
    inTask('link', 'set', 'eth7', 'promisc', 'on', 'allmulticast', 'on', 'arp', 'off', 'up');
    const home = await world.bringHome(identity, former);
    expect(home).toMatchObject({ ...asBefore, txQueueLength: former.txQueueLength });
    expect((home?.flags ?? 0) & 0x380).toBe(0);
  });

  it('keeps flags that the host had set', async () => {
    onHost('link', 'set', 'eni0', 'promisc', 'on');
    const { link, identity, former } = await world.moveIn();
    inTask('link', 'set', link.name, 'promisc', 'off', 'allmulticast', 'on');
    expect(((await world.bringHome(identity, former))?.flags ?? 0) & 0x380).toBe(0x100);
  });

  it('loses names, uppers and masters that the task tied to it', async () => {
    const { link, identity, former } = await world.moveIn();
    onHost('link', 'add', 'clash0', 'type', 'veth', 'peer', 'name', 'clash1');
    inTask('link', 'property', 'add', 'dev', link.name, 'altname', 'clash0', 'altname', 'clash1');
    inTask('link', 'add', 'mv0', 'link', link.name, 'type', 'macvlan');
    inTask('link', 'add', 'br0', 'type', 'bridge');
    inTask('link', 'set', link.name, 'up');
    expect(await world.bringHome(identity, former)).toMatchObject({ ...asBefore, altNames: [] });
    expect((await world.task.session.links()).map((left) => left.name)).toEqual(['lo', 'br0']);
  });

  it('leaves the bridge that the task put it into', async () => {
    const { link, identity, former } = await world.moveIn();
    inTask('link', 'add', 'br0', 'type', 'bridge');
    inTask('link', 'set', link.name, 'master', 'br0', 'up');
    expect(await world.bringHome(identity, former)).toMatchObject(asBefore);
  });

  it.each([
    ['its name', ['eni0'], 'te0123456789'],
    ['its name and the one it has in the task', ['eni0', 'te0123456789'], /^eni[0-9]+$/],
  ])('takes a free name when %s is taken', async (_what, taken, name) => {
    const { identity, former } = await world.moveIn();
    for (const other of taken) onHost('link', 'add', other, 'type', 'ifb');
    const home = await world.bringHome(identity, former);
    expect(home).toMatchObject({ ...asBefore, name: expect.stringMatching(name) });
    expect(taken).not.toContain(home?.name);
    expect(home?.kind).toBe('veth');
  });

  it('is made bare where it was moved by hand, whatever it is called there', async () => {
    const { link, identity, former } = await world.moveIn();
    inTask('link', 'set', link.name, 'netns', world.hostName);
    onHost('link', 'set', link.name, 'name', 'odd0', 'mtu', '1300', 'up');
    onHost('address', 'add', '10.0.0.9/24', 'dev', 'odd0');
    const home = await world.bringHome(identity, former);
    expect(home).toMatchObject(asBefore);
    expect(await world.host.session.addresses(home?.index)).toEqual([]);
  });

  it('is found at home when the task has no namespace any more', async () => {
    const { link, identity, former } = await world.moveIn();
    inTask('link', 'set', link.name, 'netns', world.hostName, 'address', '02:99:00:00:00:99');
    expect(await world.bringHome(identity, former, undefined)).toMatchObject(asBefore);
  });

  it('is left alone at home when it never left, and bears no mark', async () => {
    const { link, identity, former } = await world.moveIn();
    await world.bringHome(identity, former);
    onHost('link', 'set', 'eni0', 'up');
    const untouched = await bringHome({ task: world.task, host: world.host, identity, former, wasMoved: false });
    expect(untouched).toMatchObject({ name: 'eni0', up: true });
    onHost('link', 'set', 'eni0', 'alias', link.alias);
    const marked = await bringHome({ task: world.task, host: world.host, identity, former, wasMoved: false });
    expect(marked).toMatchObject(asBefore);
  });

  it('is waited for, and restored, when its namespace ended and the kernel takes its time to bring it', async () => {
    const { link, identity, former } = await world.moveIn();
    const physical = { ...identity, kind: null, peerIndex: null };
    const looks = vi.spyOn(world.host.session, 'links');
    const coming = bringHome({ task: undefined, host: world.host, identity: physical, former, wasMoved: true });
    await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(1);
    inTask('link', 'set', link.name, 'mtu', '1400');
    inTask('link', 'set', link.name, 'netns', world.hostName, 'name', 'dev7');
    expect(await coming).toMatchObject(asBefore);
  });

  it('is not missed when it is gone for good, or in a third namespace', async () => {
    const { link, identity, former } = await world.moveIn();
    const third = world.add();
    inTask('link', 'set', link.name, 'netns', third);
    expect(await world.bringHome(identity, former)).toBeUndefined();
    world.ip(third, 'link', 'delete', link.name);
    expect(await world.bringHome(identity, former)).toBeUndefined();
  });

  it('is not mistaken for another link that bears its name', async () => {
    const { link, identity, former } = await world.moveIn();
    inTask('link', 'set', link.name, 'name', 'eth5');
    inTask('link', 'add', link.name, 'type', 'ifb');
    expect(await world.bringHome(identity, former)).toMatchObject(asBefore);
    expect((await world.task.session.links()).map((left) => left.name)).toEqual(['lo', link.name]);
  });
});
