import { readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Host } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

interface Task {
  readonly id: string;
  readonly eni: Eni;
  readonly body: object;
  readonly inside: Inside;
  readonly linkLocal: string;
}

let engine: DockerEngine;
let lab: Lab;
let service: ServiceProcess;
let container: string;
let tasks: Task[];

beforeAll(async () => {
  engine = await DockerEngine.start();
});
afterAll(async () => {
  await engine?.stop();
});

const host = async () => (await service.api<Host>('GET', '/host')).body;
const stateFolder = () => `${lab.directory}/state/tasks`;
const files = () => readdirSync(stateFolder()).map((name) => `${stateFolder()}/${name}`);
const start = async () => lab.startService({ env: await engine.serviceEnvironment(), waitReady: false });

async function attach(id: string, rest: object): Promise<Task> {
  const eni = await lab.createEni({ mtu: 1500 });
  const body = { eni: { macAddress: eni.mac }, dhcp: false, ...rest };
  const { status, body: network } = await service.post(id, body);
  expect(status, JSON.stringify(network)).toBe(201);
  const inside = new Inside(network.sandbox.netns);
  return { id, eni, body, inside, linkLocal: network.linkLocal.ipv4Address };
}

async function settles(orphans: number): Promise<void> {
  await expect
    .poll(async () => (await host().catch(() => undefined))?.orphans.length, { timeout: 40_000 })
    .toBe(orphans);
}

beforeEach(async () => {
  lab = await Lab.create({ name: 'state-lost' });
  const app = await engine.importImage('app');
  container = await engine.docker('run', '-d', '--name', `${lab.id}-app`, '--network', 'none', app, 'sleep', '600');
  service = await start();
  await service.becomesReady();
  const bare = await lab.createNamespace();
  tasks = [
    await attach('docker', {}),
    await attach('bare', { sandbox: { netns: bare.path } }),
    await attach('own', { sandbox: { containerId: container } }),
  ];
});
afterEach(async () => {
  await service?.kill();
  await engine.docker('rm', '--force', container);
  await lab?.destroy();
});

async function expectTraffic(): Promise<void> {
  for (const { eni, inside } of tasks) {
    await inside.ping('172.31.0.1');
    expect(await inside.addresses()).toContain(`eth0 ${eni.ipv4Address}`);
  }
}

async function expectAdopted(): Promise<void> {
  for (const { id, body, linkLocal, inside } of tasks) {
    const before = await inside.run('ip', '-j', 'address');
    const answer = await service.post(id, body);
    expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
    expect(answer.body.linkLocal.ipv4Address).toBe(linkLocal);
    expect(JSON.parse(await inside.run('ip', '-j', 'address'))).toEqual(JSON.parse(before));
  }
  await expectTraffic();
  expect((await host()).orphans).toEqual([]);
}

it('tasks whose state files are all gone live on, keep their addresses, and are adopted by their own POST', async () => {
  await service.kill();
  for (const file of files()) rmSync(file);
  service = await start();
  await settles(3);
  await expectTraffic();
  const fourth = await attach('fourth', {});
  const spare = await lab.createEni();
  for (const { id, body } of tasks) {
    const other = await service.post(id, { ...body, eni: { macAddress: spare.mac } });
    expect(other, JSON.stringify(other.body)).toMatchObject({ status: 409, body: { code: 'task-exists' } });
  }
  const { status } = await service.post('bare', { ...tasks[1]?.body, sandbox: undefined });
  expect(status).toBe(409);
  await expectTraffic();
  expect(tasks.map(({ linkLocal }) => linkLocal)).not.toContain(fourth.linkLocal);
  expect((await service.del('fourth')).status).toBe(200);
  await expectAdopted();
});

it('tasks whose state files are all gone are brought home by DELETE, with name, MAC and MTU as before', async () => {
  await service.kill();
  for (const file of files()) rmSync(file);
  service = await start();
  await settles(3);
  // A POST that fails does not hide the orphan.
  expect((await service.post('bare', { eni: { macAddress: tasks[0]?.eni.mac } })).status).toBe(409);
  for (const { id, eni } of tasks) {
    expect(await service.del(id, { force: true })).toMatchObject({ status: 200, body: { state: 'DETACHED' } });
    const link = await new Inside(lab.host.path).link(eni.hostName);
    expect(link).toMatchObject({ address: eni.mac, mtu: 1500, addr_info: [] });
    expect(link.flags).not.toContain('UP');
  }
  expect(await host()).toMatchObject({ orphans: [], linkLocal: { allocated: 0 } });
});

it('half a state file costs only its own task, and /readyz says so', async () => {
  await service.stop();
  const [torn = ''] = files();
  truncateSync(torn, Math.floor(readFileSync(torn).length / 2));
  service = await start();
  await settles(1);
  const { status, body } = await service.api('GET', '/readyz');
  expect(status).toBe(503);
  expect(JSON.stringify(body)).toContain('damaged');
  await expectTraffic();
  await expectAdopted();
});
