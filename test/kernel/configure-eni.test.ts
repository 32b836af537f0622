import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ipv6, Ipv6Cidr } from '../../src/addresses/cidr.js';
import { type EniPlan, clearMetadataBlock, configureEni, learnedIpv6Gateway } from '../../src/eni/configure.js';
import { eniDrift } from '../../src/eni/drift.js';
import { EniWorld, identityOf, ipv4Plan } from './eni-world.js';

const dualPlan: EniPlan = {
  ...ipv4Plan,
  ipv6: { address: '2001:db8:1::5', prefix: 64 } as Ipv6Cidr,
  ipv6Gateway: 'fe80::1' as Ipv6,
};

describe('an ENI inside its task', () => {
  let world: EniWorld;
  beforeEach(() => {
    world = new EniWorld();
  });
  afterEach(() => world.close());

  const inTask = (...args: string[]) => world.ip(world.taskName, ...args);
  const routes = (family: string) =>
    inTask(family, 'route')
      .trim()
      .split('\n')
      .map((line) => line.trim());
  const sysctl = (key: string) => world.exec(world.taskName, 'sysctl', '-n', `net.ipv6.conf.${key}`).trim();
  const attach = async (plan: EniPlan) => {
    const { link } = await world.moveIn();
    await configureEni(world.task, link, plan);
    return identityOf(link);
  };

  it('has exactly its addresses and routes, metadata blocked, and nothing drifts', async () => {
    const identity = await attach(ipv4Plan);
    expect(inTask('-br', '-4', 'address', 'show', 'dev', 'eth0')).toMatch(/^eth0@\S+\s+UP\s+172\.31\.13\.14\/20\s*$/);
    expect(routes('-4')).toEqual([
      'default via 172.31.0.1 dev eth0 proto static',
      'blackhole 169.254.169.254 proto static',
      '172.31.0.0/20 dev eth0 proto kernel scope link src 172.31.13.14',
    ]);
    expect(routes('-6')).toContain('blackhole fd00:ec2::254 dev lo proto static metric 1024 pref medium');
    expect(await eniDrift(world.task.session, identity, ipv4Plan)).toEqual([]);
  });

  it('leaves metadata open when it is not to be blocked', async () => {
    await attach({ ...ipv4Plan, blockInstanceMetadata: false });
    expect([...routes('-4'), ...routes('-6')].join()).not.toContain('blackhole');
  });

  it('leaves no block of metadata to a sandbox that lives on', async () => {
    await attach(ipv4Plan);
    await clearMetadataBlock(world.task.session);
    expect([...routes('-4'), ...routes('-6')].join()).not.toContain('blackhole');
    await clearMetadataBlock(world.task.session);
  });

  it('has IPv6 at once where Docker had turned it off', async () => {
    world.exec(
      world.taskName,
      'sysctl',
      '-qw',
      'net.ipv6.conf.all.disable_ipv6=1',
      'net.ipv6.conf.default.disable_ipv6=1',
    );
    const identity = await attach(dualPlan);
    const addresses = inTask('-6', 'address', 'show', 'dev', 'eth0');
    expect(addresses).toContain('2001:db8:1::5/64');
    expect(addresses).not.toContain('tentative');
    expect(routes('-6').join('\n')).toMatch(/default via fe80::1 dev eth0 proto static/);
    expect(['all', 'default', 'lo', 'eth0'].map((link) => sysctl(`${link}.disable_ipv6`))).toEqual([
      '0',
      '0',
      '0',
      '0',
    ]);
    expect([sysctl('eth0.accept_ra'), sysctl('eth0.autoconf')]).toEqual(['0', '0']);
    expect(await eniDrift(world.task.session, identity, dualPlan)).toEqual([]);
  });

  it('blocks IPv6 metadata also where IPv6 stays off', async () => {
    world.exec(
      world.taskName,
      'sysctl',
      '-qw',
      'net.ipv6.conf.all.disable_ipv6=1',
      'net.ipv6.conf.default.disable_ipv6=1',
    );
    await attach(ipv4Plan);
    expect(routes('-6').join()).toContain('blackhole fd00:ec2::254');
    expect(sysctl('eth0.disable_ipv6')).toBe('1');
  });

  it('learns its IPv6 gateway, and no address, from a router', async () => {
    const plan = { ...dualPlan, ipv6Gateway: null };
    world.exec(world.hostName, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
    const identity = await attach(plan);
    const index = identity.index ?? 0;
    expect(await learnedIpv6Gateway(world.task.session, index)).toBeUndefined();
    const stop = await world.advertise('eni0-vpc', '2001:db8:1::/64');
    await vi.waitFor(
      async () => expect(await learnedIpv6Gateway(world.task.session, index)).toMatch(/^fe80::/),
      20_000,
    );
    stop();
    expect(inTask('-6', 'address', 'show', 'dev', 'eth0').match(/inet6 2001/g)).toHaveLength(1);
    expect(await eniDrift(world.task.session, identity, plan)).toEqual([]);
  });

  it('is configured again without a change', async () => {
    const identity = await attach(dualPlan);
    const before = [inTask('address'), ...routes('-4'), ...routes('-6')];
    const link = await world.task.session.linkByName('eth0');
    await configureEni(world.task, link!, dualPlan);
    expect([inTask('address'), ...routes('-4'), ...routes('-6')]).toEqual(before);
    expect(await eniDrift(world.task.session, identity, dualPlan)).toEqual([]);
  });

  it('gets its name, MTU, addresses and routes back', async () => {
    const identity = await attach(dualPlan);
    inTask('link', 'set', 'eth0', 'down', 'name', 'odd0', 'mtu', '1400');
    inTask('link', 'set', 'odd0', 'up');
    inTask('address', 'flush', 'dev', 'odd0');
    const link = await world.task.session.linkByName('odd0');
    await configureEni(world.task, link!, dualPlan);
    expect(await eniDrift(world.task.session, identity, dualPlan)).toEqual([]);
  });

  it('takes its name also from among its own other names', async () => {
    world.ip(world.hostName, 'link', 'property', 'add', 'dev', 'eni0', 'altname', 'eth0');
    await attach(ipv4Plan);
    expect(await world.task.session.linkByName('eth0')).toMatchObject({ name: 'eth0', altNames: [] });
  });

  it('is not lost when another link of the task has its name', async () => {
    inTask('link', 'add', 'eth0', 'type', 'ifb');
    const { link, identity, former } = await world.moveIn();
    await expect(configureEni(world.task, link, ipv4Plan)).rejects.toMatchObject({ code: 'unusable-sandbox' });
    expect(await world.bringHome(identity, former)).toMatchObject({ name: 'eni0' });
  });

  it('has what was asked of its MTU', async () => {
    await attach({ ...ipv4Plan, mtu: 1400 });
    expect(await world.task.session.linkByName('eth0')).toMatchObject({ mtu: 1400 });
  });

  it('shows every change made by hand', async () => {
    const identity = await attach(dualPlan);
    inTask('route', 'delete', '169.254.169.254');
    inTask('route', 'replace', 'default', 'via', '172.31.0.9');
    inTask('address', 'add', '10.0.0.1/24', 'dev', 'eth0');
    inTask('address', 'delete', '2001:db8:1::5/64', 'dev', 'eth0');
    inTask('link', 'set', 'eth0', 'mtu', '1400', 'alias', 'mine');
    expect(await eniDrift(world.task.session, identity, dualPlan)).toEqual([
      'eth0 has the MTU 1400, not 9001',
      'eth0 does not bear the mark of the task',
      'eth0 lacks 2001:db8:1::5/64',
      'eth0 has the foreign address 10.0.0.1/24',
      'the default route of 0.0.0.0 by 172.31.0.1 is missing',
      'the route to 169.254.169.254/32 (blackhole) is missing',
    ]);
    inTask('link', 'set', 'eth0', 'name', 'gone0', 'down');
    const drift = await eniDrift(world.task.session, identity, dualPlan);
    expect(drift).toEqual(expect.arrayContaining(['the ENI is called gone0, not eth0', 'eth0 is down']));
    await world.bringHome(identity, await world.eniBefore());
    expect(await eniDrift(world.task.session, identity, dualPlan)).toEqual(['the ENI is not in the task']);
  });
});
