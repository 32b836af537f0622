import { readdirSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DhcpClients } from '../../src/dhcp/dhcp-clients.js';
import { findDhclient } from '../../src/dhcp/dhclient.js';
import { Subnet, type Task, clientPids, count, configuration, until } from './subnet.js';

const files = (task: Task) => readdirSync('/var/lib/dhcp').filter((name) => name.includes(task.hash));

describe('the DHCP clients of a task', () => {
  let subnet: Subnet;
  let clients: DhcpClients;
  let task: Task;
  let number = 0;
  beforeAll(async () => {
    subnet = await Subnet.create();
  });
  afterAll(() => subnet.destroy());
  beforeEach(async () => {
    clients = subnet.clients();
    task = await subnet.createTask(`quick-${++number}`);
    await subnet.serve([task]);
  });
  afterEach(async () => {
    await clients.stop(task.hash);
    await clients.stopAll();
    await subnet.server.stop();
  });

  const bothBound = () => until('both families bound', 5, () => count(clients, 'bound') === 2);

  it('are bound within five seconds, and a start does not wait for them', async () => {
    clients.start(task);
    expect(clients.lease(task.hash)).toEqual({ client: 'dhclient', state: 'starting', expiresAt: null });
    await bothBound();
    const lease = clients.lease(task.hash);
    expect(lease).toMatchObject({ client: 'dhclient', state: 'bound' });
    expect(Math.abs((lease?.expiresAt ?? 0) - Date.now() - 120_000)).toBeLessThan(8_000);
    expect(subnet.messages('DHCPACK', task.ipv4)).toHaveLength(1);
    expect(subnet.messages('DHCPREPLY', task.ipv6 ?? '')).toHaveLength(1);
  });

  it('change nothing of task or host, whatever the server offers', async () => {
    const before = await configuration(task);
    clients.start(task);
    await bothBound();
    expect(subnet.server.log().join('\n')).toContain('mtu  1400');
    expect(await configuration(task)).toBe(before);
  });

  it('are one for each family, however often they are started', async () => {
    for (let i = 0; i < 3; i++) clients.start(task);
    await bothBound();
    expect(clientPids(task)).toHaveLength(2);
  });

  it('leave neither process nor file nor descriptor behind, and send no release', async () => {
    const descriptors = readdirSync('/proc/self/fd').length;
    clients.start(task);
    await bothBound();
    expect(files(task)).toHaveLength(4);
    await clients.stop(task.hash);
    expect(clientPids(task)).toEqual([]);
    expect(files(task)).toEqual([]);
    expect(readdirSync('/proc/self/fd')).toHaveLength(descriptors);
    expect(clients.lease(task.hash)).toBeUndefined();
    expect(subnet.server.log().filter((line) => line.includes('DHCPRELEASE'))).toEqual([]);
  });

  it('are gone when they are stopped before they have begun, and begin again after that', async () => {
    clients.start(task);
    const stopped = clients.stop(task.hash);
    clients.start(task);
    await stopped;
    await bothBound();
    expect(clientPids(task)).toHaveLength(2);
  });

  it('are back when they are killed', async () => {
    clients.start(task);
    await bothBound();
    const killed = clientPids(task);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await until('two other clients', 5, () => {
      const now = clientPids(task);
      return now.length === 2 && !now.some((pid) => killed.includes(pid));
    });
    expect(clients.lease(task.hash)?.state).toBe('bound');
    await until('asked again', 5, () => subnet.messages('DHCPACK', task.ipv4).length === 2);
  });

  it('are told to listeners when the lease becomes another', async () => {
    const seen: string[] = [];
    const end = clients.onChange((hash) => seen.push(hash));
    clients.start(task);
    await bothBound();
    expect(seen).toEqual([task.hash, task.hash]);
    end();
  });

  it('let the namespace go with the sandbox', async () => {
    clients.start(task);
    await bothBound();
    await subnet.lab.host.run('ip', 'netns', 'delete', task.home.name);
    await clients.stop(task.hash);
    // The wire's far end dies with its namespace.
    await until(
      'the namespace is gone',
      5,
      async () => !(await subnet.lab.vpc.run('ip', 'link')).includes(`w${number}@`),
    );
  });

  it('are told as failed while they cannot be started, and come once they can', async () => {
    const programs = findDhclient('dhclient');
    if (programs === null) throw new Error('dhclient is not installed');
    const broken = { ...programs, dhclient: `${subnet.lab.directory}/dhclient` };
    const impaired = subnet.clients(broken);
    impaired.start(task);
    await until('failed', 10, () => impaired.lease(task.hash)?.state === 'failed');
    await symlink(programs.dhclient, broken.dhclient);
    await until('bound', 10, () => impaired.lease(task.hash)?.state === 'bound');
    await impaired.stop(task.hash);
    await rm(broken.dhclient);
  });

  it('are none when DHCP is off', async () => {
    const off = subnet.clients(null);
    off.start(task);
    expect(off.lease(task.hash)).toEqual({ client: null, state: 'off', expiresAt: null });
    expect(off.states()).toEqual([]);
    await off.stop(task.hash);
    expect(off.lease(task.hash)).toBeUndefined();
  });
});
