/** Two-minute leases, the shortest that dnsmasq grants; each test has a subnet and a clock of its own, side by side. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DhcpClients } from '../../src/dhcp/dhcp-clients.js';
import { Subnet, type Task, clientPids, count, configuration, until } from './subnet.js';

interface Scene {
  readonly subnet: Subnet;
  readonly clients: DhcpClients;
  readonly task: Task;
  readonly before: string;
}

async function begin(name: string, strange?: string): Promise<Scene> {
  const subnet = await Subnet.create();
  const task = await subnet.createTask(name);
  await subnet.serve([task], new Map(strange === undefined ? [] : [[task, strange]]));
  const clients = subnet.clients();
  const before = await configuration(task);
  clients.start(task);
  await until('both families bound', 10, () => count(clients, 'bound') === 2);
  return { subnet, clients, task, before };
}

async function end({ subnet, clients, task }: Scene): Promise<void> {
  await clients.stop(task.hash);
  await subnet.destroy();
}

describe.concurrent('a lease of two minutes', () => {
  let renewed: Scene;
  let starved: Scene;
  let strange: Scene;
  beforeAll(async () => {
    renewed = await begin('renewed');
    starved = await begin('starved');
    strange = await begin('strange', '172.31.9.9');
  });
  afterAll(async () => {
    await Promise.all([renewed, starved, strange].map(end));
  });

  it(
    'is renewed at about its half, with the same address, by a request that the server sees',
    { timeout: 100_000 },
    async () => {
      const { subnet, clients, task, before } = renewed;
      const first = clients.lease(task.hash)?.expiresAt ?? 0;
      await until('a second DHCPACK', 75, () => subnet.messages('DHCPACK', task.ipv4).length === 2);
      await until('a later end', 30, () => (clients.lease(task.hash)?.expiresAt ?? 0) > first + 20_000);
      expect(subnet.messages('DHCPREQUEST', task.ipv4)).toHaveLength(2);
      await until('a renewal in DHCPv6', 20, () => subnet.messages('DHCPREPLY', task.ipv6 ?? '').length === 2);
      expect(count(clients, 'bound')).toBe(2);
      expect(await configuration(task)).toBe(before);
      expect(subnet.mismatches).toBe(0);
    },
  );

  it(
    'expires while the server is away, costs the task nothing, and is bound again when the server is back',
    {
      timeout: 220_000,
    },
    async () => {
      const { subnet, clients, task, before } = starved;
      await subnet.server.stop();
      await until('renewing', 80, () => clients.lease(task.hash)?.state === 'renewing');
      await until('both families expired', 80, () => count(clients, 'expired') === 2);
      expect(clients.lease(task.hash)).toMatchObject({ client: 'dhclient', state: 'expired' });
      // dhclient -6 4.4.3 ends itself at the end of a lease.
      await until('both clients run', 5, () => clientPids(task).length === 2);
      expect(await configuration(task)).toBe(before);
      const told = subnet.log.filter(({ msg }) => msg.includes('has expired'));
      expect(told.map(({ taskId, level }) => [taskId, level])).toEqual([
        ['starved', 40],
        ['starved', 40],
      ]);
      await subnet.serve([task]);
      await until('both families bound', 45, () => count(clients, 'bound') === 2);
      expect(await configuration(task)).toBe(before);
    },
  );

  it('for another address is counted and logged once, and the ENI keeps its own', { timeout: 100_000 }, async () => {
    const { subnet, clients, task, before } = strange;
    const told = () => subnet.log.filter(({ msg }) => msg.includes('names another address'));
    expect(told().map(({ family, level }) => [family, level])).toEqual([[4, 40]]);
    expect(subnet.mismatches).toBe(1);
    expect(clients.lease(task.hash)?.state).toBe('bound');
    await until('a renewal', 75, () => subnet.messages('DHCPACK', '172.31.9.9').length === 2);
    await sleep(2_000);
    expect(subnet.mismatches).toBe(1);
    expect(await configuration(task)).toBe(before);
  });
});
