import { readdirSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ipv4, parseIpv4Cidr } from '../../src/addresses/cidr.js';
import type { Mac } from '../../src/addresses/mac.js';
import { linkAlias, linkLocalMac, portName } from '../../src/attachments/names.js';
import { BridgeNamespace } from '../../src/bridge/bridge-namespace.js';
import { bringHome } from '../../src/eni/bring-home.js';
import { configureEni } from '../../src/eni/configure.js';
import { clearHostConfig } from '../../src/eni/host-config.js';
import { findEni } from '../../src/eni/eni-search.js';
import { moveIn } from '../../src/eni/move-in.js';
import { openNamespace } from '../../src/kernel/namespaces.js';
import { NetlinkSession } from '../../src/kernel/netlink.js';
import { readSettings } from '../../src/settings.js';
import { EniWorld, identityOf, ipv4Plan, silent } from './eni-world.js';

const tasks = 8;
const cycles = 13;

describe('a hundred attachments and detachments, eight at a time', () => {
  let world: EniWorld;
  let bridge: BridgeNamespace;
  const names: string[] = [];
  beforeAll(async () => {
    world = new EniWorld();
    const instance = world.unusedName();
    bridge = new BridgeNamespace(readSettings({ TASK_ENI_BRIDGE_NETNS: instance }), silent);
    await bridge.ensure();
    for (let number = 0; number < tasks; number += 1) {
      names.push(world.add());
      world.addEni(`task${number}`, `02:00:00:00:01:0${number}`);
    }
  });
  afterAll(() => {
    bridge.close();
    world.close();
  });

  const cycle = async (number: number) => {
    const mac = `02:00:00:00:01:0${number}` as Mac;
    const address = `169.254.172.${number + 2}` as Ipv4;
    const hash = `${number}`.padStart(20, '0');
    const port = {
      port: portName(`${number}`.repeat(20)),
      alias: linkAlias('test', hash),
      interface: 'ecs-eth0',
      address,
      mac: linkLocalMac(address),
    };
    const taskNamespace = openNamespace(`/run/netns/${names[number]}`);
    const task = { namespace: taskNamespace, session: NetlinkSession.open(taskNamespace) };
    const eni = findEni(await world.host.session.links(), mac)!;
    await clearHostConfig(world.host.session, eni.index, silent);
    await bridge.connect({ ...port, taskNamespace });
    const link = await moveIn({
      host: world.host.session,
      link: eni,
      task: task.session,
      taskNamespace,
      alias: port.alias,
      temporaryName: `te${number}`,
    });
    await configureEni(task, link, {
      ...ipv4Plan,
      ipv4: parseIpv4Cidr(`10.0.${number}.5/24`)!,
      ipv4Gateway: `10.0.${number}.1` as Ipv4,
    });
    const addresses = (await task.session.addresses())
      .filter((found) => found.family === 2)
      .map((found) => found.address);
    expect(addresses.toSorted()).toEqual([`10.0.${number}.5`, '127.0.0.1', address].toSorted());
    const identity = { ...identityOf(link), alias: port.alias, mac };
    expect(await bringHome({ task, host: world.host, identity, former: eni, wasMoved: true })).toMatchObject({
      name: `task${number}`,
      mac,
      up: false,
    });
    expect(await bridge.disconnect(port)).toBe(true);
    task.session.close();
    taskNamespace.close();
  };

  it('leave every thread at home, no descriptor behind, and never mix two tasks', async () => {
    const descriptors = readdirSync('/proc/self/fd').length;
    const repeat = async (number: number) => {
      for (let round = 0; round < cycles; round += 1) await cycle(number);
    };
    await Promise.all(Array.from({ length: tasks }, (_, number) => repeat(number)));
    const threads = readdirSync('/proc/self/task').map((thread) => readlinkSync(`/proc/self/task/${thread}/ns/net`));
    expect(new Set(threads)).toEqual(new Set([readlinkSync('/proc/self/ns/net')]));
    await vi.waitFor(() => expect(readdirSync('/proc/self/fd').length).toBe(descriptors));
    expect(await bridge.ports()).toEqual([]);
  }, 60_000);
});
