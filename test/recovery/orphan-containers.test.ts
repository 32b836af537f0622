import { readdirSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Host, Network } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let engine: DockerEngine;
let lab: Lab;
let service: ServiceProcess;
let eni: Eni;
let network: Network;
let app: string;

beforeAll(async () => {
  engine = await DockerEngine.start();
});
afterAll(async () => {
  await engine?.stop();
});
beforeEach(async () => {
  lab = await Lab.create({ name: 'orphan-containers', ipv6: false });
  const env = await engine.serviceEnvironment();
  service = await lab.startService({ env });
  eni = await lab.createEni();
  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  expect(status, JSON.stringify(body)).toBe(201);
  network = body;
  const image = await engine.importImage('app');
  app = await engine.docker('run', '-d', '--network', network.networkMode, image, 'sleep', '600');
  await service.kill();
});
afterEach(async () => {
  await service?.kill();
  await engine.docker('rm', '--force', app);
  await lab?.destroy();
});

async function startWithoutRecords(): Promise<void> {
  const folder = `${lab.directory}/state/tasks`;
  for (const name of readdirSync(folder)) rmSync(`${folder}/${name}`);
  service = await lab.startService({ env: await engine.serviceEnvironment() });
  expect((await host()).orphans).toEqual([expect.objectContaining({ taskId: 'web' })]);
}

const host = async () => (await service.api<Host>('GET', '/host')).body;

async function expectRefused(): Promise<void> {
  for (const _ of [1, 2]) {
    const refused = await service.del('web');
    expect(refused, JSON.stringify(refused.body)).toMatchObject({ status: 409, body: { code: 'containers-joined' } });
    expect(refused.body.detail).toContain(app.slice(0, 12));
    expect((await service.get('web')).status).toBe(404);
    expect((await host()).orphans).toHaveLength(1);
  }
  expect(await engine.docker('inspect', '--format', '{{.State.Running}}', app)).toBe('true');
}

it('an orphan that a container has joined stays one when its DELETE is refused, and is settled by force', async () => {
  await startWithoutRecords();
  await expectRefused();
  await new Inside(network.sandbox.netns).ping('172.31.0.1');
  expect(await service.del('web', { force: true })).toMatchObject({ status: 200, body: { state: 'DETACHED' } });
  expect((await new Inside(lab.host.path).link(eni.hostName)).address).toBe(eni.mac);
  expect(await host()).toMatchObject({ orphans: [], linkLocal: { allocated: 0 } });
});

it('an orphan of which only the pause container shows is refused as well while a container is in it', async () => {
  await new Inside(network.sandbox.netns).run('ip', 'link', 'delete', 'ecs-eth0');
  await eni.detach();
  await startWithoutRecords();
  await expectRefused();
  expect((await service.del('web', { force: true })).status).toBe(200);
  await expect(engine.docker('inspect', network.sandbox.containerId ?? '')).rejects.toThrow(/No such/);
});
