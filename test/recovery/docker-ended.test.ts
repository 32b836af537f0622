import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Host, Network } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let engine: DockerEngine;
let lab: Lab;
let service: ServiceProcess;
let network: Network;

beforeAll(async () => {
  engine = await DockerEngine.start();
});
afterAll(async () => {
  await engine?.stop();
});
beforeEach(async () => {
  lab = await Lab.create({ name: 'docker-ended', ipv6: false });
  service = await start();
  network = await attach();
});
afterEach(async () => {
  await service?.kill();
  await lab?.destroy();
});

const start = async () => lab.startService({ env: await engine.serviceEnvironment() });
const pauses = () => engine.docker('ps', '--all', '--quiet', '--filter', `label=task-eni.instance=${lab.id}`);

async function attach(): Promise<Network> {
  const eni = await lab.createEni();
  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Ten seconds are the contract's; a read of the state on a busy machine is given two more. */
async function expectLost(): Promise<void> {
  await expect.poll(async () => (await service.get('web')).body.state, { timeout: 12_000 }).toBe('LOST');
  expect((await service.api<Host>('GET', '/host')).body.linkLocal.allocated).toBe(0);
  expect((await pauses()).trim()).toBe('');
  expect(await attach()).toMatchObject({ state: 'READY' });
}

it.each([['kill'], ['rm', '--force']])('a task whose pause container met docker %s is LOST', async (...command) => {
  await engine.docker(...command, network.sandbox.containerId ?? '');
  await expectLost();
});

it('a task whose pause process was killed is LOST', async () => {
  process.kill(network.sandbox.pid ?? 0, 'SIGKILL');
  await expectLost();
});

it('a task whose pause container ended while the service was down is LOST at its start', async () => {
  await service.kill();
  await engine.docker('kill', network.sandbox.containerId ?? '');
  service = await start();
  await expectLost();
});

it('a service that finds no engine at its start serves the tasks that run, and says what is missing', async () => {
  await service.kill();
  const env = { ...(await engine.serviceEnvironment()), DOCKER_HOST: `unix://${lab.directory}/no-engine.sock` };
  service = await lab.startService({ env, waitReady: false });
  await expect.poll(async () => (await service.get('web')).body.state, { timeout: 30_000 }).toBe('READY');
  const ready = await service.api<{ parts: Record<string, { status: string }> }>('GET', '/readyz');
  expect(ready).toMatchObject({
    status: 503,
    body: { parts: { docker: { status: 'down' }, bridge: { status: 'up' } } },
  });
  const { body } = await service.api<{ drift: string[] }>('GET', '/tasks/web/network?verify=true');
  expect(body.drift).toEqual([]);
});
