import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Network } from '../lab/answers.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;
let eni: Eni;

beforeAll(async () => {
  lab = await Lab.create({ name: 'mended', ipv6: false, dhcp: true });
  eni = await lab.createEni();
  service = await lab.startService();
});
afterEach(async () => {
  await service.del('web');
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

async function attach(): Promise<{ network: Network; task: Inside }> {
  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac } });
  expect(status, JSON.stringify(body)).toBe(201);
  return { network: body, task: new Inside(body.sandbox.netns) };
}

const now = async () => (await service.api<Network>('GET', '/tasks/web/network?verify=true')).body;
const drift = async () => (await now()).drift;
const logged = (message: string) => service.logs().filter(({ msg, level }) => msg.startsWith(message) && level === 50);

/** As long as a link of another kind has its name, the task cannot be connected. */
async function block(task: Inside): Promise<void> {
  await task.run('ip', 'link', 'delete', 'ecs-eth0');
  await task.run('ip', 'link', 'add', 'ecs-eth0', 'type', 'bridge');
}

async function expectConnected(task: Inside): Promise<void> {
  await expect.poll(drift, { timeout: 20_000 }).toEqual([]);
  await task.run('bash', '-c', 'exec 3<>/dev/tcp/169.254.170.2/80');
}

it('a task that cannot be connected to a bridge made anew is connected once it can be', async () => {
  const { task } = await attach();
  await block(task);
  await new Inside(`/run/netns/${lab.id}`).run('ip', 'link', 'delete', 'ecs-eni');
  await expect.poll(() => logged('a task is not wholly connected').length, { timeout: 20_000 }).toBe(1);
  expect(await drift()).not.toEqual([]);
  await task.run('ip', 'link', 'delete', 'ecs-eth0');
  await expectConnected(task);
});

it('a task that cannot be connected at a start has its DHCP client, and is connected once it can be', async () => {
  const { task } = await attach();
  await service.stop();
  await block(task);
  service = await lab.startService();
  await expect.poll(async () => (await now()).lease.client, { timeout: 20_000 }).toBe('dhclient');
  expect(await drift()).not.toEqual([]);
  await task.run('ip', 'link', 'delete', 'ecs-eth0');
  await expectConnected(task);
});

it('an undo that fails again and again is tried again, said once, and done once it can be', async () => {
  const { network } = await attach();
  const { netns } = network.sandbox;
  await lab.host.run('umount', netns);
  writeFileSync(netns, 'not a namespace');
  const refused = await service.del('web');
  expect(refused, JSON.stringify(refused.body)).toMatchObject({
    status: 500,
    body: { code: 'step-failed', step: 'prepare-sandbox' },
  });
  const failures = async () => {
    const { body } = await service.api<string>('GET', '/metrics');
    return Number(/^task_eni_undo_failures_total\{step="prepare-sandbox"\} (\d+)$/m.exec(body)?.[1]);
  };
  await expect.poll(failures, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
  expect(logged('a step could not be undone')).toHaveLength(1);
  expect(logged('reconciling a task failed')).toHaveLength(1);
  rmSync(netns);
  await expect.poll(async () => (await service.get('web')).status, { timeout: 30_000 }).toBe(404);
  expect(existsSync(netns)).toBe(false);
});
