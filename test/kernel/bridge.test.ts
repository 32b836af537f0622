import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ipv4 } from '../../src/addresses/cidr.js';
import { linkAlias, linkLocalMac, portName } from '../../src/attachments/names.js';
import { BridgeNamespace } from '../../src/bridge/bridge-namespace.js';
import { readSettings } from '../../src/settings.js';
import { spawnChild } from '../../src/kernel/spawn.js';
import { World, run } from './world.js';

const logger = pino({ level: 'silent' });
const address = (last: number) => `169.254.172.${last}` as Ipv4;

describe('the bridge namespace', () => {
  let world: World;
  let instance: string;
  let bridge: BridgeNamespace;

  const make = (environment: Record<string, string> = {}) =>
    new BridgeNamespace(readSettings({ TASK_ENI_BRIDGE_NETNS: instance, ...environment }), logger);
  const plan = (number: number) => {
    const hash = number.toString(16).padStart(10, '0').padEnd(20, '0');
    return {
      port: portName(hash),
      alias: linkAlias(instance, hash),
      interface: 'ecs-eth0',
      address: address(number),
      mac: linkLocalMac(address(number)),
    };
  };
  const addTask = async (number: number) => {
    const name = world.add();
    const taskNamespace = world.open(name);
    await bridge.connect({ ...plan(number), taskNamespace });
    return { name, taskNamespace };
  };
  const curl = (name: string, ...more: string[]) => {
    try {
      return world.exec(name, 'curl', '-s', '--max-time', '1', ...more, 'http://169.254.170.2/');
    } catch (error) {
      return `curl exits ${(error as { status: number }).status}`;
    }
  };

  beforeEach(() => {
    world = new World();
    instance = world.unusedName();
    bridge = make();
  });
  afterEach(() => {
    bridge.close();
    world.close();
  });

  it('is made once however many ask', async () => {
    await Promise.all(Array.from({ length: 16 }, () => bridge.ensure()));
    const links = JSON.parse(world.ip(instance, '-j', 'address', 'show', 'dev', 'ecs-eni'));
    expect(links).toHaveLength(1);
    expect(links[0]).toMatchObject({ address: '0a:57:a9:fe:ac:01', operstate: expect.any(String) });
    expect(links[0].flags).toContain('UP');
    const addresses = links[0].addr_info.map(
      (info: { local: string; prefixlen: number }) => `${info.local}/${info.prefixlen}`,
    );
    expect(addresses).toEqual(['169.254.172.1/22', '169.254.170.2/32']);
    const sysctl = (key: string) => world.exec(instance, 'sysctl', '-n', key).trim();
    expect(sysctl('net.ipv4.ip_forward')).toBe('0');
    expect(sysctl('net.ipv4.conf.all.rp_filter')).toBe('1');
    expect(sysctl('net.ipv4.conf.ecs-eni.rp_filter')).toBe('1');
    expect(sysctl('net.ipv4.ip_unprivileged_port_start')).toBe('0');
    expect(sysctl('net.ipv6.conf.ecs-eni.disable_ipv6')).toBe('1');
  });

  it('connects a task to the credentials address and to nothing else', async () => {
    await bridge.ensure();
    const { name, taskNamespace } = await addTask(2);
    expect(world.ip(name, 'route').trim()).toBe('169.254.170.2 dev ecs-eth0 proto static scope link');
    expect(world.ip(name, '-br', 'address', 'show', 'dev', 'ecs-eth0')).toMatch(
      /^ecs-eth0@\S+\s+UP\s+169\.254\.172\.2\/32\s*$/,
    );
    world.exec(name, 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=0');
    expect(world.ip(name, '-6', 'address', 'show', 'dev', 'ecs-eth0')).toBe('');
    expect(await bridge.drift(plan(2), taskNamespace)).toEqual([]);
    expect(await bridge.ports()).toMatchObject([
      { name: plan(2).port, alias: plan(2).alias, address: '169.254.172.2' },
    ]);
    expect(await bridge.addressesInUse()).toEqual(['169.254.172.2']);
  });

  it('takes sixteen tasks at once, before there is a bridge', async () => {
    const numbers = Array.from({ length: 16 }, (_, number) => number + 2);
    const tasks = await Promise.all(numbers.map(addTask));
    for (const [at, { taskNamespace }] of tasks.entries())
      expect(await bridge.drift(plan(numbers[at] ?? 0), taskNamespace)).toEqual([]);
    expect((await bridge.addressesInUse()).toSorted()).toEqual(numbers.map(address).toSorted());
  });

  it('says that it is full, and leaves nothing behind', async () => {
    await bridge.ensure();
    const lines = Array.from(
      { length: 1023 },
      (_, number) => `link add name f${number} master ecs-eni type veth peer name g${number}`,
    );
    execFileSync('ip', ['-n', instance, '-batch', '-'], { input: lines.join('\n') });
    const name = world.add();
    await expect(bridge.connect({ ...plan(2), taskNamespace: world.open(name) })).rejects.toMatchObject({
      code: 'address-pool-exhausted',
    });
    expect(world.ip(name, '-br', 'link')).not.toContain('ecs-eth0');
  });

  it('keeps its hardware address while ports come and go', async () => {
    await bridge.ensure();
    for (const number of [2, 3, 4]) await addTask(number);
    for (const number of [3, 2]) await bridge.disconnect(plan(number));
    expect((await world.session(instance).linkByName('ecs-eni'))?.mac).toBe('0a:57:a9:fe:ac:01');
  });

  it('connects again without a second pair, and makes a new one for another namespace', async () => {
    await bridge.ensure();
    const first = await addTask(2);
    const before = await bridge.ports();
    await bridge.connect({ ...plan(2), taskNamespace: first.taskNamespace });
    expect(await bridge.ports()).toEqual(before);
    const second = await addTask(2);
    expect(await bridge.drift(plan(2), second.taskNamespace)).toEqual([]);
    expect(await bridge.ports()).toHaveLength(1);
    expect(await bridge.drift(plan(2), first.taskNamespace)).toEqual(['ecs-eth0 is missing in the task']);
  });

  it('disconnects what bears the mark, and only that', async () => {
    await bridge.ensure();
    await addTask(2);
    expect(await bridge.disconnect({ ...plan(2), alias: 'te:other:00000000000000000000' })).toBe(false);
    expect(await bridge.addressesInUse()).toEqual(['169.254.172.2']);
    expect(await bridge.disconnect({ port: plan(2).port, alias: plan(2).alias })).toBe(true);
    expect(await bridge.disconnect(plan(2))).toBe(false);
    expect(await bridge.ports()).toEqual([]);
    expect(world.ip(instance, 'neighbour').trim()).toBe('');
    expect(world.exec(instance, 'bridge', 'fdb', 'show')).not.toContain(plan(2).mac);
  });

  it('refuses a sandbox in which the name is taken, and leaves nothing behind', async () => {
    await bridge.ensure();
    const name = world.add();
    world.ip(name, 'link', 'add', 'ecs-eth0', 'type', 'veth', 'peer', 'name', 'other0');
    await expect(bridge.connect({ ...plan(2), taskNamespace: world.open(name) })).rejects.toMatchObject({
      code: 'unusable-sandbox',
    });
    expect(await bridge.ports()).toEqual([]);
  });

  it('says what was changed by hand, and connecting again mends it', async () => {
    await bridge.ensure();
    const { name, taskNamespace } = await addTask(2);
    const { port, mac } = plan(2);
    world.exec(instance, 'bridge', 'link', 'set', 'dev', port, 'isolated', 'off', 'learning', 'on');
    world.exec(instance, 'bridge', 'fdb', 'delete', mac, 'dev', port, 'master');
    world.ip(instance, 'neighbour', 'delete', '169.254.172.2', 'dev', 'ecs-eni');
    world.ip(name, 'route', 'delete', '169.254.170.2');
    world.ip(name, 'route', 'add', '169.254.172.0/22', 'dev', 'ecs-eth0');
    world.ip(name, 'link', 'set', 'ecs-eth0', 'address', '02:11:11:11:11:11');
    const drift = await bridge.drift(plan(2), taskNamespace);
    expect(drift).toHaveLength(7);
    expect(drift.join('\n')).toMatch(
      /flags[\s\S]*forwarding[\s\S]*neighbour[\s\S]*hardware address 02:11[\s\S]*no route[\s\S]*foreign route/,
    );
    world.ip(name, 'route', 'delete', '169.254.172.0/22');
    await bridge.connect({ ...plan(2), taskNamespace });
    expect(await bridge.drift(plan(2), taskNamespace)).toEqual([]);
  });

  it('is mended when the bridge, its address or the pin is gone', async () => {
    await bridge.ensure();
    const { taskNamespace } = await addTask(2);
    world.ip(instance, 'link', 'delete', 'ecs-eni');
    expect(await bridge.drift(plan(2), taskNamespace)).toEqual(expect.arrayContaining(['ecs-eni is missing']));
    await bridge.ensure();
    expect((await bridge.drift(plan(2), taskNamespace)).join()).toContain('is not a port of ecs-eni');
    await bridge.connect({ ...plan(2), taskNamespace });
    world.ip(instance, 'address', 'delete', '169.254.170.2/32', 'dev', 'ecs-eni');
    world.ip(instance, 'address', 'add', '10.9.9.9/24', 'dev', 'ecs-eni');
    world.ip(instance, 'link', 'set', 'ecs-eni', 'down', 'address', '02:00:00:00:00:99');
    const { cookie } = bridge.namespace;
    run('ip', 'netns', 'delete', instance);
    await bridge.ensure();
    expect(world.open(instance).cookie).toBe(cookie);
    expect(world.ip(instance, '-br', 'address', 'show', 'dev', 'ecs-eni')).toMatch(
      /169\.254\.172\.1\/22 169\.254\.170\.2\/32\s*$/,
    );
    // A bridge that goes down loses its neighbour entries.
    await bridge.connect({ ...plan(2), taskNamespace });
    expect(await bridge.drift(plan(2), taskNamespace)).toEqual([]);
  });

  it('leaves alone another kind of link that has its name', async () => {
    await bridge.ensure();
    world.ip(instance, 'link', 'delete', 'ecs-eni');
    world.ip(instance, 'link', 'add', 'ecs-eni', 'type', 'veth', 'peer', 'name', 'other0');
    await expect(bridge.ensure()).rejects.toMatchObject({
      code: 'step-failed',
      detail: expect.stringContaining('ecs-eni'),
    });
    expect(await world.session(instance).linkByName('ecs-eni')).toMatchObject({ kind: 'veth' });
  });

  describe('with a server on the credentials address', () => {
    let server: ChildProcess;

    beforeEach(async () => {
      await bridge.ensure();
      const script = `require('http').createServer((q, r) => r.end(q.socket.remoteAddress)).listen(80, '169.254.170.2', () => console.log('up'))`;
      server = spawnChild(process.execPath, ['-e', script], {
        namespace: bridge.namespace,
        env: {},
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(server.stdout as NodeJS.ReadableStream, 'data');
    });
    afterEach(() => void server.kill());

    it('answers each task, and none that takes its neighbour address, with its hardware address or without', async () => {
      const victim = await addTask(2);
      const thief = await addTask(3);
      expect([curl(victim.name), curl(thief.name)]).toEqual(['169.254.172.2', '169.254.172.3']);
      world.ip(thief.name, 'address', 'add', '169.254.172.2/32', 'dev', 'ecs-eth0');
      expect(curl(thief.name, '--interface', '169.254.172.2')).toBe('curl exits 28');
      world.ip(thief.name, 'link', 'set', 'ecs-eth0', 'address', plan(2).mac);
      expect(curl(thief.name, '--interface', '169.254.172.2')).toBe('curl exits 28');
      expect(curl(victim.name)).toBe('169.254.172.2');
    });

    it('lets no packet through to a neighbour or to the bridge itself', async () => {
      const first = await addTask(2);
      await addTask(3);
      for (const target of ['169.254.172.1', '169.254.172.3', '169.254.169.254']) {
        world.ip(first.name, 'route', 'replace', target, 'dev', 'ecs-eth0');
        expect(() => world.exec(first.name, 'ping', '-c1', '-W1', target)).toThrow();
      }
      world.ip(first.name, 'route', 'replace', '169.254.169.254', 'via', '169.254.170.2', 'dev', 'ecs-eth0');
      expect(() => world.exec(first.name, 'ping', '-c1', '-W1', '169.254.169.254')).toThrow();
      expect(() => world.exec(first.name, 'arping', '-c1', '-w1', '-i', 'ecs-eth0', '169.254.172.3')).toThrow();
    });
  });
});
