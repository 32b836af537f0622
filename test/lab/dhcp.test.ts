import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Eni } from './eni.js';
import type { HostNamespace } from './host-namespace.js';
import { Lab } from './lab.js';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.create({ dhcp: { leaseSeconds: 120 } });
});
afterAll(() => lab.destroy());

async function plug(): Promise<{ eni: Eni; namespace: HostNamespace }> {
  const eni = await lab.createEni();
  const namespace = await lab.createNamespace();
  await lab.host.run('ip', 'link', 'set', eni.hostName, 'netns', namespace.name);
  await namespace.run('ip', 'link', 'set', eni.hostName, 'up');
  return { eni, namespace };
}

/** A client that keeps its lease to itself: its script is `true`. */
function dhclient(namespace: HostNamespace, device: string, family = '-4'): ChildProcess {
  const files = ['-lf', `${lab.directory}/${device}${family}.leases`, '-pf', `${lab.directory}/${device}.pid`];
  return namespace.start('dhclient', [family, '-d', ...files, '-sf', '/bin/true', device], { stdio: 'ignore' });
}

const messagesOf = (mac: string, type: string) =>
  lab.dhcp.messages().filter((message) => message.mac === mac && message.type === type);

describe("a lab's DHCP server", () => {
  it('gives an ENI its own address for the time that was set', async () => {
    const { eni, namespace } = await plug();
    const client = dhclient(namespace, eni.hostName);
    await expect.poll(() => messagesOf(eni.mac, 'DHCPACK').length, { timeout: 10_000 }).toBe(1);
    const address = eni.ipv4Address.replace('/20', '');
    expect(messagesOf(eni.mac, 'DHCPACK')[0]?.address).toBe(address);
    const lease = () => namespace.run('cat', `${lab.directory}/${eni.hostName}-4.leases`);
    await expect.poll(lease, { timeout: 5_000 }).toContain(`fixed-address ${address};`);
    expect(await lease()).toMatch(/option dhcp-lease-time 120;[^]*option domain-name "ec2.internal"/);
    client.kill();
  });

  it('gives an ENI its own IPv6 address', async () => {
    const { eni, namespace } = await plug();
    const client = dhclient(namespace, eni.hostName, '-6');
    const lease = () => namespace.run('cat', `${lab.directory}/${eni.hostName}-6.leases`).catch(() => '');
    await expect.poll(lease, { timeout: 15_000 }).toContain(`iaaddr ${eni.ipv6Address?.replace('/64', '')} `);
    expect(lab.dhcp.messages().map(({ type }) => type)).toContain('DHCPREPLY');
    client.kill();
  });

  it('gives a stranger nothing', async () => {
    const neighbour = await lab.createNeighbour();
    const client = dhclient(neighbour.namespace, 'eth0');
    await expect.poll(() => messagesOf(neighbour.mac, 'DHCPDISCOVER').length, { timeout: 10_000 }).toBeGreaterThan(0);
    await sleep(300);
    expect(messagesOf(neighbour.mac, 'DHCPOFFER')).toEqual([]);
    client.kill();
  });

  it('is silent while stopped, and afterwards may give another address', async () => {
    const { eni, namespace } = await plug();
    await lab.dhcp.stop();
    const client = dhclient(namespace, eni.hostName);
    await sleep(500);
    expect(messagesOf(eni.mac, 'DHCPDISCOVER')).toEqual([]);
    lab.dhcp.setAddress(eni.mac, '172.31.9.9');
    await lab.dhcp.start({ leaseSeconds: 600, options: ['6,192.0.2.53'] });
    const lease = () => namespace.run('cat', `${lab.directory}/${eni.hostName}-4.leases`).catch(() => '');
    await expect.poll(lease, { timeout: 20_000 }).toContain('fixed-address 172.31.9.9;');
    expect(await lease()).toMatch(/dhcp-lease-time 600;[^]*domain-name-servers 192.0.2.53/);
    client.kill();
  });
});

describe("a lab's router advertisements", () => {
  it('give a default route and an address of the prefix to whoever takes them, while they are on', async () => {
    const { eni, namespace } = await plug();
    const routes = () => namespace.run('ip', '-6', 'route', 'show', 'default');
    expect(await routes()).toBe('');
    await lab.routerAdvertisements.start();
    await namespace.run('ip', 'link', 'set', eni.hostName, 'down');
    await namespace.run('ip', 'link', 'set', eni.hostName, 'up');
    await expect.poll(routes, { timeout: 10_000 }).toContain('default via fe80::1 ');
    expect(await namespace.run('ip', '-6', 'address', 'show', 'dynamic')).toContain('2001:db8:1:');
    await lab.routerAdvertisements.stop();
    const later = await plug();
    await sleep(500);
    expect(await later.namespace.run('ip', '-6', 'route', 'show', 'default')).toBe('');
  });
});
