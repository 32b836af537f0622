import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Network } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { everythingOf } from './everything.js';

let engine: DockerEngine;
let lab: Lab;
let service: ServiceProcess;
let eni: Eni;
let before: Record<string, unknown>;
let pause: string;
let network: Network;

beforeAll(async () => {
  engine = await DockerEngine.start();
  lab = await Lab.create({ name: 'docker-tampered', ipv6: false });
  service = await lab.startService({ env: await engine.serviceEnvironment() });
  eni = await lab.createEni();
  before = await everything();
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
  await engine?.stop();
});
beforeEach(async () => {
  network = await attach();
  pause = network.sandbox.containerId ?? '';
});
// So that what one test leaves behind does not fail the next.
afterEach(async () => {
  await removeAll(`name=${lab.id}-app`);
  await service.del('web', { force: true });
  await removeAll(`label=task-eni.instance=${lab.id}`);
});

const containers = async (filter: string) =>
  (await engine.docker('ps', '--all', '--quiet', '--no-trunc', '--filter', filter)).split('\n').filter(Boolean);

async function removeAll(filter: string): Promise<void> {
  const found = await containers(filter);
  if (found.length > 0) await engine.docker('rm', '--force', ...found);
}

async function everything(): Promise<Record<string, unknown>> {
  const { tasks: _, ...found } = await everythingOf(lab, service);
  return { ...found, pauses: await containers(`label=task-eni.instance=${lab.id}`) };
}

async function attach(): Promise<Network> {
  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const join = async () => {
  const app = await engine.importImage('app');
  return engine.docker('run', '-d', '--name', `${lab.id}-app`, '--network', network.networkMode, app, 'sleep', '600');
};
const state = async () => (await service.get('web')).body.state;
const drift = async () => (await service.api<Network>('GET', '/tasks/web/network?verify=true')).body.drift;
const ping = (netns = network.sandbox.netns) => new Inside(netns).ping('172.31.0.1');

/** Ten seconds are the contract's; a read of the state on a busy machine is given two more. */
const becomesLost = () => expect.poll(state, { timeout: 12_000 }).toBe('LOST');

it('a task whose pause container is paused keeps its network, and is detached like any other', async () => {
  await engine.docker('pause', pause);
  expect(await drift()).toEqual([]);
  await ping();
  expect(await service.del('web')).toMatchObject({ status: 200, body: { state: 'DETACHED' } });
  expect(await everything()).toEqual(before);
});

it('a task whose pause container was renamed is detached with it', async () => {
  await engine.docker('rename', pause, `${lab.id}-app-renamed`);
  expect(await drift()).toEqual([]);
  expect(await service.del('web')).toMatchObject({ status: 200, body: { state: 'DETACHED' } });
  expect(await everything()).toEqual(before);
});

it('a task outlives docker system prune', async () => {
  await engine.docker('system', 'prune', '--force');
  expect(await state()).toBe('READY');
  await ping();
});

it.each([['kill'], ['restart', '--time', '0'], ['rm', '--force']])(
  'the ENI of a task whose pause container met docker %s comes home from containers that live on',
  async (...command) => {
    const app = await join();
    await engine.docker(...command, pause);
    await becomesLost();
    expect(await everything()).toEqual(before);
    expect(await engine.docker('inspect', '--format', '{{.State.Running}}', app)).toBe('true');
    expect((await service.del('web')).status).toBe(200);
  },
);

it('a task whose containers were all stopped is LOST, and its id can be used anew', async () => {
  const app = await join();
  await engine.docker('stop', '--time', '1', pause, app);
  await becomesLost();
  // A pretend ENI dies with its namespace; a real one would be home.
  await eni.detach();
  eni = await lab.createEni({ hostName: eni.hostName, mac: eni.mac });
  await attach();
});

it("a stranger's container of the name makes the task's sandbox unusable, and is left alone", async () => {
  const [name] = (await engine.docker('inspect', '--format', '{{.Name}}', pause)).split('/').slice(-1);
  expect((await service.del('web')).status).toBe(200);
  const image = await engine.importImage('pause');
  const stranger = await engine.docker('run', '-d', '--name', name ?? '', '--network', 'none', image);
  const refused = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  expect(refused).toMatchObject({ status: 422, body: { code: 'unusable-sandbox', step: 'prepare-sandbox' } });
  expect(await everything()).toEqual(before);
  expect(await engine.docker('inspect', '--format', '{{.State.Running}}', stranger)).toBe('true');
  await engine.docker('rm', '--force', stranger);
  await attach();
});
