import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;

/** This machine's kernel has IPv6: the service is shown one that has not. */
const kernelWithoutIpv6 = ['--import', fileURLToPath(new URL('./without-ipv6.mjs', import.meta.url))];

beforeAll(async () => {
  lab = await Lab.create({ name: 'without IPv6', ipv6: false });
  // Silent, so that the routes of the host have to be asked.
  await lab.metadata.stop();
  service = await lab.startService({ nodeArgs: kernelWithoutIpv6 });
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

it('attaches and detaches on a kernel that has no IPv6, rules and routes of the host on the ENI included', async () => {
  const eni = await lab.createEni();
  await lab.host.ipBatch([
    `link set ${eni.hostName} up`,
    `address add ${eni.ipv4Address} dev ${eni.hostName}`,
    `route add default via 172.31.0.1 dev ${eni.hostName} table 130`,
    `rule add from ${eni.ipv4Address.split('/')[0]} lookup 130 priority 130`,
  ]);
  const facts = { macAddress: eni.mac, ipv4Address: eni.ipv4Address, ipv4Gateway: '172.31.0.1' };
  const { status, body } = await service.post('web', { eni: facts });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.warnings).toEqual([]);
  const task = new Inside(body.sandbox.netns);
  expect((await task.routes()).filter((route) => !route.includes(':'))).toEqual([
    '169.254.170.2 dev ecs-eth0',
    '172.31.0.0/20 dev eth0',
    'blackhole 169.254.169.254',
    'default via 172.31.0.1 dev eth0',
  ]);
  expect(await task.routes()).not.toContain('blackhole fd00:ec2::254');
  await task.ping('172.31.0.1');
  expect(await lab.host.run('ip', 'rule', 'show')).not.toContain('130');
  const { drift } = (await service.api('GET', '/tasks/web/network?verify=true')).body;
  // The kernel has IPv6 after all, and gives links addresses of their own.
  expect(drift.filter((line) => !line.includes('fe80::'))).toEqual([]);
  expect((await service.del('web')).status).toBe(200);
  expect(await new Inside(lab.host.path).link(eni.hostName)).toMatchObject({ address: eni.mac, addr_info: [] });
});

it('refuses an ENI with IPv6 there, says why, and leaves it home', async () => {
  const eni = await lab.createEni();
  const facts = { macAddress: eni.mac, ipv6Address: '2001:db8:1::5/64', ipv6Gateway: 'fe80::1' };
  const { status, body } = await service.post('web', { eni: facts });
  expect([status, body.code], body.detail).toEqual([422, 'unusable-eni']);
  expect(body.detail).toContain('no IPv6');
  expect((await new Inside(lab.host.path).link(eni.hostName)).address).toBe(eni.mac);
});

it("knows the host's own interface there too, by its default route", async () => {
  const { address } = await new Inside(lab.host.path).link('eth0');
  const facts = { macAddress: address, ipv4Address: '172.31.0.10/20', ipv4Gateway: '172.31.0.1' };
  const answer = await service.post('greedy', { eni: facts });
  expect([answer.status, answer.body.code], answer.body.detail).toEqual([409, 'primary-eni']);
});
