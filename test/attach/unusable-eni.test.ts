import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { footprintOf } from './footprint.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let host: Inside;

beforeAll(async () => {
  lab = await Lab.create({ name: 'unusable ENI' });
  host = new Inside(lab.host.path);
  service = await lab.startService();
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

const post = (eni: Eni, facts: object = {}, rest: object = {}) =>
  service.post(`task-${eni.hostName}`, { eni: { macAddress: eni.mac, ...facts }, dhcp: false, ...rest });

async function expectRefused(answer: Awaited<ReturnType<typeof post>>, eni: Eni): Promise<void> {
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 422, body: { code: 'unusable-eni' } });
  expect((await host.link(eni.hostName)).address).toBe(eni.mac);
  const { bridgePorts, allocated } = await footprintOf(lab, service);
  expect([bridgePorts, allocated]).toEqual([[], 0]);
}

it('is one of two links with its MAC: both are named, and it works once the other is gone', async () => {
  const eni = await lab.createEni();
  await lab.host.ipBatch([`link add double address ${eni.mac} type veth peer name double1`]);
  const answer = await post(eni);
  await expectRefused(answer, eni);
  expect(answer.body.detail).toContain(eni.hostName);
  expect(answer.body.detail).toContain('double');
  await lab.host.run('ip', 'link', 'delete', 'double');
  expect((await post(eni)).status).toBe(201);
  expect((await service.del(`task-${eni.hostName}`)).status).toBe(200);
});

it('is not taken for a link that is stacked on it', async () => {
  const under = await lab.createEni();
  const bridged = await lab.createEni();
  await lab.host.ipBatch([
    `link add upper link ${under.hostName} address ${under.mac} type macvlan mode bridge`,
    'link add hostbridge type bridge',
    `link set ${bridged.hostName} master hostbridge`,
  ]);
  expect((await host.link('hostbridge')).address).toBe(bridged.mac);
  for (const eni of [under, bridged]) {
    const { status, body } = await post(eni);
    expect(status, JSON.stringify(body)).toBe(201);
    expect(await eni.locate()).toMatchObject({ name: 'eth0' });
    expect((await service.del(`task-${eni.hostName}`)).status).toBe(200);
    expect((await host.link(eni.hostName)).address).toBe(eni.mac);
  }
});

it('has an id and a MAC that are not of one ENI', async () => {
  const [eni, other] = [await lab.createEni(), await lab.createEni()];
  await expectRefused(await post(eni, { id: other.id }), eni);
});

it('has a gateway outside its subnet, whoever says which that is', async () => {
  const eni = await lab.createEni();
  await expectRefused(await post(eni, { ipv4Gateway: '172.31.16.1' }), eni);
  await expectRefused(await post(eni, { ipv4Address: eni.ipv4Address, ipv4Gateway: '172.31.16.1' }), eni);
  await expectRefused(await post(eni, { ipv6Address: eni.ipv6Address, ipv6Gateway: '2001:db8:2::1' }), eni);
});

it('stays home, down and bare, when its name is taken in the namespace of the caller', async () => {
  const eni = await lab.createEni();
  const own = await lab.createNamespace();
  await own.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'far');
  const answer = await post(eni, {}, { sandbox: { netns: own.path } });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 422, body: { code: 'unusable-sandbox' } });
  expect(answer.body.detail).toContain('eth0');
  expect(await host.link(eni.hostName)).toMatchObject({ address: eni.mac, addr_info: [] });
  const links = (await new Inside(own.path).links()).map(({ ifname }) => ifname);
  expect(links.toSorted()).toEqual(['eth0', 'far', 'lo']);
  await own.run('ip', 'link', 'delete', 'eth0');
  expect((await post(eni, {}, { sandbox: { netns: own.path } })).status).toBe(201);
});
