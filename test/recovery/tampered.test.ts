import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Network } from '../lab/answers.js';
import type { Eni } from '../lab/eni.js';
import type { IpObject } from '../lab/host-namespace.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { everythingOf, linkLine } from './everything.js';

let lab: Lab;
let service: ServiceProcess;
let eni: Eni;
let before: Record<string, unknown>;
let link: string;
let task: Inside;
let network: Network;

beforeAll(async () => {
  lab = await Lab.create({ name: 'tampered', ipv6: false });
  eni = await lab.createEni();
  service = await lab.startService();
  before = await everythingOf(lab, service);
  link = linkLine(await linkAt(lab.host.path, eni.hostName));
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});
beforeEach(async () => {
  const answer = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  network = answer.body;
  task = new Inside(network.sandbox.netns);
});
// So that what one test leaves behind does not fail the next.
afterEach(async () => {
  await service.del('web', { force: true });
});

async function linkAt(netns: string, name: string): Promise<IpObject> {
  const found = (await new Inside(netns).ip<IpObject[]>('link')).find(({ ifname }) => ifname === name);
  if (found === undefined) throw new Error(`${netns} has no link ${name}`);
  return found;
}

const drift = async () => (await service.api<Network>('GET', '/tasks/web/network?verify=true')).body.drift;
const ip = (line: string) => task.run('ip', ...line.split(' '));

it.each([
  ['its name changed', ['link set eth0 down', 'link set eth0 name wan0', 'link set wan0 up']],
  ['its MAC changed', ['link set eth0 address 02:aa:aa:aa:aa:aa']],
  ['its MTU changed', ['link set eth0 mtu 1400']],
  ['its mark taken off', ['link set eth0 alias x', 'link set eth0 alias ']],
  ['promiscuous mode and no ARP', ['link set eth0 promisc on', 'link set eth0 arp off']],
  ['a bridge of the task above it', ['link add br0 type bridge', 'link set eth0 master br0']],
  ['an alternative name that clashes at home', ['link property add dev eth0 altname lo0clash']],
  ['its address taken', ['address flush dev eth0']],
])('an ENI with %s shows its drift and comes home as it was', async (what, commands) => {
  expect(await drift()).toEqual([]);
  if (what.includes('clashes')) await lab.host.run('ip', 'link', 'add', 'lo0clash', 'type', 'bridge');
  for (const line of commands) await ip(line.trimEnd()).catch(async () => ip(line));
  if (!what.includes('alternative')) expect(await drift()).not.toEqual([]);
  const { status, body } = await service.del('web');
  expect(status, JSON.stringify(body)).toBe(200);
  if (what.includes('clashes')) await lab.host.run('ip', 'link', 'delete', 'lo0clash');
  expect(linkLine(await linkAt(lab.host.path, eni.hostName))).toBe(link);
  expect(await everythingOf(lab, service)).toEqual(before);
});

it('an ENI that the task moved home by hand is found there and made bare', async () => {
  const name = lab.host.name;
  await ip(`link set eth0 netns ${name} name moved0`);
  expect((await service.del('web')).status).toBe(200);
  expect(await everythingOf(lab, service)).toEqual(before);
});

it('an ENI whose name is taken at home comes under a free one, which DELETE tells', async () => {
  await lab.host.run('ip', 'link', 'add', eni.hostName, 'type', 'bridge');
  const { status, body } = await service.del('web');
  await lab.host.run('ip', 'link', 'delete', eni.hostName);
  expect(status).toBe(200);
  expect(body.eni.hostInterface).not.toBe(eni.hostName);
  expect((await linkAt(lab.host.path, body.eni.hostInterface)).address).toBe(eni.mac);
  await lab.host.run('ip', 'link', 'set', body.eni.hostInterface, 'name', eni.hostName);
  expect(await everythingOf(lab, service)).toEqual(before);
});

it('a port that was deleted by hand does not keep DELETE from its work', async () => {
  await ip('link delete ecs-eth0');
  expect(await drift()).not.toEqual([]);
  expect((await service.del('web')).status).toBe(200);
  expect(await everythingOf(lab, service)).toEqual(before);
});

it.each(['isolated off', 'learning on', 'flood on', 'mcast_flood on'])(
  'a port with %s shows in drift',
  async (flag) => {
    const bridge = new Inside(`/run/netns/${lab.id}`);
    await bridge.run('bridge', 'link', 'set', 'dev', network.linkLocal.hostInterface, ...flag.split(' '));
    expect(await drift()).not.toEqual([]);
    expect((await service.del('web')).status).toBe(200);
  },
);

it('a bridge that was deleted by hand is made again, and the task is connected to it again', async () => {
  const bridge = new Inside(`/run/netns/${lab.id}`);
  await bridge.run('ip', 'link', 'delete', 'ecs-eni');
  expect(await drift()).not.toEqual([]);
  await expect.poll(drift, { timeout: 15_000 }).toEqual([]);
  await task.run('bash', '-c', 'exec 3<>/dev/tcp/169.254.170.2/80');
  expect((await service.del('web')).status).toBe(200);
  expect(await everythingOf(lab, service)).toEqual(before);
});
