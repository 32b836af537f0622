import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let tasks = 0;

beforeAll(async () => {
  lab = await Lab.create({ name: 'chosen facts', dhcp: true, routerAdvertisements: true });
  service = await lab.startService();
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

async function attach(eni: Eni, facts: object = {}, rest: object = {}) {
  const taskId = `task-${++tasks}`;
  const { status, body } = await service.post(taskId, { eni: { macAddress: eni.mac, ...facts }, ...rest });
  expect(status, JSON.stringify(body)).toBe(201);
  return { taskId, body, task: new Inside(body.sandbox.netns) };
}

async function defaults(task: Inside): Promise<string[]> {
  return (await task.routes()).filter((route) => route.startsWith('default'));
}

describe('an ENI that has IPv6 only', () => {
  it('is ready with the gateway that its router advertised, and reaches it', async () => {
    const eni = await lab.createEni({ ipv6Only: true });
    const { body, task } = await attach(eni);
    expect(body.eni).toMatchObject({ ipv4Address: null, ipv4Gateway: null, ipv6Gateway: 'fe80::1' });
    expect(await task.addresses()).toEqual(
      [
        `ecs-eth0 ${body.linkLocal.ipv4Address}/32`,
        `eth0 ${eni.ipv6Address}`,
        'lo 127.0.0.1/8',
        'lo ::1/128',
      ].toSorted(),
    );
    expect(await defaults(task)).toEqual(['default via fe80::1 dev eth0']);
    await task.ping('2001:db8:1::1');
  });

  it('is ready without a gateway, and says so, while no router speaks; then it learns it', async () => {
    await lab.routerAdvertisements.stop();
    const { taskId, body, task } = await attach(await lab.createEni({ ipv6Only: true }));
    expect(body.eni.ipv6Gateway).toBeNull();
    expect(body.warnings.join()).toContain('no router');
    expect(await defaults(task)).toEqual([]);
    await lab.routerAdvertisements.start();
    const learnt = async () => (await service.get(taskId)).body.eni.ipv6Gateway;
    await expect.poll(learnt, { timeout: 20_000 }).toBe('fe80::1');
    expect(await defaults(task)).toEqual(['default via fe80::1 dev eth0']);
  });
});

describe('what the request says', () => {
  it('wins, gateways included, and costs no read of instance metadata', async () => {
    const eni = await lab.createEni();
    await lab.metadata.resetRequests();
    const given = {
      ipv4Address: '172.31.9.9/20',
      ipv4Gateway: '172.31.0.2',
      ipv6Address: '2001:db8:1::99/64',
      ipv6Gateway: '2001:db8:1::1',
    };
    const { body, task } = await attach(eni, given);
    expect(body.eni).toMatchObject(given);
    expect(await defaults(task)).toEqual(['default via 172.31.0.2 dev eth0', 'default via 2001:db8:1::1 dev eth0']);
    expect(await lab.metadata.requests()).toEqual([]);
    // The router's advertisements, which name another gateway, come every five seconds: they are not listened to.
    const listens = await task.run('cat', '/proc/sys/net/ipv6/conf/eth0/accept_ra');
    expect(listens.trim()).toBe('0');
  });

  it('about the MTU holds inside the task, and at home the ENI has its own again', async () => {
    const eni = await lab.createEni();
    const { taskId, body, task } = await attach(eni, { mtu: 1400 });
    expect(body.eni.mtu).toBe(1400);
    expect((await task.link('eth0')).mtu).toBe(1400);
    await service.del(taskId);
    expect((await new Inside(lab.host.path).link(eni.hostName)).mtu).toBe(9001);
  });

  it('about instance metadata leaves it reachable by the ENI, if it says so', async () => {
    const { body, task } = await attach(await lab.createEni(), {}, { blockInstanceMetadata: false });
    expect(await task.routes()).not.toContainEqual(expect.stringContaining('blackhole'));
    await task.ping('169.254.169.254');
    expect(body.blockInstanceMetadata).toBe(false);
    expect(body.environment).not.toHaveProperty('AWS_EC2_METADATA_DISABLED');
  });
});

describe('the IPv4 gateway that nobody gives', () => {
  it('is the first address of the subnet, of a /28 too', async () => {
    const eni = await lab.createEni({ ipv4: '172.31.5.85' });
    await lab.metadata.setKey(eni.mac, 'subnet-ipv4-cidr-block', '172.31.5.80/28');
    const { body, task } = await attach(eni);
    expect(body.eni).toMatchObject({ ipv4Address: '172.31.5.85/28', ipv4Gateway: '172.31.5.81' });
    expect(await task.addresses()).toContain('eth0 172.31.5.85/28');
    expect(await task.routes()).toEqual(
      expect.arrayContaining(['172.31.5.80/28 dev eth0', 'default via 172.31.5.81 dev eth0']),
    );
  });

  it("does not depend on the VPC's other ranges", async () => {
    const eni = await lab.createEni();
    await lab.metadata.setKey(eni.mac, 'vpc-ipv4-cidr-block', '100.64.0.0/16');
    await lab.metadata.setKey(eni.mac, 'vpc-ipv4-cidr-blocks', '100.64.0.0/16\n172.31.0.0/16');
    const { body, task } = await attach(eni);
    expect(body.eni).toMatchObject({ ipv4Address: eni.ipv4Address, ipv4Gateway: '172.31.0.1' });
    await task.ping('172.31.0.1');
  });
});

describe('the MTU that nobody gives', () => {
  it("stays the ENI's own, whatever the DHCP server says", async () => {
    const eni = await lab.createEni({ mtu: 3000 });
    const { taskId, body, task } = await attach(eni);
    expect(body.eni.mtu).toBe(3000);
    await expect.poll(async () => (await service.get(taskId)).body.lease.state, { timeout: 20_000 }).toBe('bound');
    expect((await task.link('eth0')).mtu).toBe(3000);
    await service.del(taskId);
    expect((await new Inside(lab.host.path).link(eni.hostName)).mtu).toBe(3000);
  });
});
