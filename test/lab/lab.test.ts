import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from './lab.js';
import { vpc } from './vpc.js';

describe('a lab', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create();
  });
  afterAll(() => lab.destroy());

  it('has a router that the host reaches by both families, and that reaches the host', async () => {
    await lab.host.run('ping', '-c1', '-W2', vpc.gateway);
    await lab.host.run('ping', '-c1', '-W2', vpc.ipv6RouterAddress);
    await lab.host.run('ping', '-c1', '-W2', `${vpc.ipv6Gateway}%eth0`);
    await lab.vpc.run('ping', '-c1', '-W2', vpc.primary);
    await lab.vpc.run('ping', '-c1', '-W2', vpc.ipv6Primary);
  });

  it('has neighbours that the host reaches, and that the host reaches', async () => {
    const one = await lab.createNeighbour();
    const other = await lab.createNeighbour();
    await one.namespace.run('ping', '-c1', '-W2', vpc.primary);
    await one.namespace.run('ping', '-c1', '-W2', other.ipv4);
    await lab.host.run('ping', '-c1', '-W2', other.ipv6 ?? '');
  });

  it('hot-plugs an ENI: down, bare, with carrier once up', async () => {
    const eni = await lab.createEni({ hostName: 'ens7', mtu: 1400 });
    const [link] = await lab.host.ip('address', 'show', 'dev', 'ens7');
    expect(link).toMatchObject({ address: eni.mac, mtu: 1400, operstate: 'DOWN', addr_info: [] });
    await lab.host.run('ip', 'link', 'set', 'ens7', 'up');
    expect(await lab.host.ip('link', 'show', 'ens7')).toMatchObject([{ operstate: 'UP' }]);
    await eni.detach();
    await expect(lab.host.run('ip', 'link', 'show', 'ens7')).rejects.toThrow('does not exist');
  });

  it('makes an ENI appear only when it is attached', async () => {
    const eni = await lab.createEni({ attach: false });
    expect(await eni.locate()).toBeUndefined();
    await eni.attach();
    expect(await eni.locate()).toEqual({ netns: lab.host.path, name: eni.hostName });
  });

  it('finds an ENI in a namespace of its own, and in one that has no name', async () => {
    const eni = await lab.createEni();
    const named = await lab.createNamespace();
    await lab.host.run('ip', 'link', 'set', eni.hostName, 'netns', named.name, 'name', 'moved0');
    expect(await eni.locate()).toEqual({ netns: named.path, name: 'moved0' });

    const nameless = spawn('unshare', ['--net', 'sleep', '60']);
    await sleep(100);
    await named.run('ip', 'link', 'set', 'moved0', 'netns', String(nameless.pid));
    expect(await eni.locate()).toEqual({ netns: `/proc/${nameless.pid}/ns/net`, name: 'moved0' });
    nameless.kill();
    await once(nameless, 'exit');
  });

  it("carries a task's traffic to the router, to neighbours and, by the router, to metadata", async () => {
    const eni = await lab.createEni();
    const task = await lab.createNamespace();
    await lab.host.run('ip', 'link', 'set', eni.hostName, 'netns', task.name);
    const device = eni.hostName;
    await task.ipBatch([
      `link set ${device} up`,
      `address add ${eni.ipv4Address} dev ${device}`,
      `address add ${eni.ipv6Address} dev ${device}`,
      `route add default via ${vpc.gateway}`,
      `route add default via ${vpc.ipv6Gateway} dev ${device}`,
    ]);
    await task.run('ping', '-c1', '-W2', vpc.gateway);
    await task.run('ping', '-c1', '-W2', vpc.ipv6Primary);
    const status = ['curl', '-s', '-m3', '-o/dev/null', '-w%{http_code}'] as const;
    expect(await task.run(...status, 'http://169.254.169.254/latest/meta-data/')).toBe('401');
    expect(await task.run(...status, 'http://[fd00:ec2::254]/latest/meta-data/')).toBe('401');
  });

  it('adds links to the host, and lets others come and go until stopped', async () => {
    const links = async () => (await lab.host.ip('link', 'show')).map((link) => link.ifname ?? '');
    const before = (await links()).length;
    await lab.addLinks(6);
    await lab.addLinks(4);
    expect((await links()).length).toBe(before + 10);
    const churn = lab.startChurn();
    const seen = new Set<number>();
    const look = async () => {
      for (const link of await lab.host.ip('link', 'show')) if (link.ifname === 'churn0') seen.add(link.ifindex ?? 0);
      return seen.size;
    };
    await expect.poll(look, { timeout: 10_000, interval: 5 }).toBeGreaterThan(2);
    await churn.stop();
    const rest = await lab.host.ip('link', 'show');
    await sleep(100);
    expect(await lab.host.ip('link', 'show')).toEqual(rest);
  });

  it('says what a program wrote when it fails', async () => {
    await expect(lab.host.run('ip', 'link', 'show', 'nothing')).rejects.toThrow('Device "nothing" does not exist');
  });
});

describe('a lab without IPv6', () => {
  it('has none on any link', async () => {
    const lab = await Lab.create({ ipv6: false });
    const eni = await lab.createEni();
    expect(eni.ipv6Address).toBeNull();
    expect(await lab.host.run('ip', '-6', 'address')).toBe('');
    expect(await lab.host.run('cat', '/proc/sys/net/ipv6/conf/eth1/disable_ipv6')).toBe('1\n');
    await lab.destroy();
  });
});
