import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { everythingOf } from './everything.js';

const steps = [
  'reserve-address',
  'prepare-sandbox',
  'clear-host-config',
  'connect-bridge',
  'move-eni',
  'configure-eni',
  'start-dhcp',
];
const moments = steps.flatMap((step) => ['before', 'after'].map((moment) => [step, moment] as const));

let lab: Lab;
let eni: Eni;
let service: ServiceProcess;
let before: Record<string, unknown>;

beforeAll(async () => {
  lab = await Lab.create({ name: 'killed', ipv6: false });
  eni = await lab.createEni();
  service = await lab.startService();
  before = await everythingOf(lab, service);
  await service.stop();
});
afterAll(async () => {
  await service?.kill();
  await lab?.destroy();
});

const body = () => ({ eni: { macAddress: eni.mac } });
const nodeArgs = ['--import', fileURLToPath(new URL('kill-at.mjs', import.meta.url))];
const startToBeKilled = (at: string) => lab.startService({ nodeArgs, env: { KILL_AT: at } });

/** A DELETE of what is left on record, and all must be as before. */
async function expectAllAsBefore(): Promise<void> {
  await expect.poll(async () => (await service.get('web')).body.state, { timeout: 15_000 }).not.toMatch(/ING$/);
  const { status, body: network } = await service.get('web');
  if (status === 200) expect(['FAILED', 'READY']).toContain(network.state);
  if (network.state === 'FAILED') {
    const { tasks: _, ...now } = await everythingOf(lab, service);
    const { tasks: __, ...then } = before;
    expect(now).toEqual(then);
  }
  expect([200, 204]).toContain((await service.del('web')).status);
  expect(await everythingOf(lab, service)).toEqual(before);
}

it.each(moments)('an attach killed at %s, %s it, is undone by the next start', async (step, moment) => {
  service = await startToBeKilled(`${step} done ${moment}`);
  await expect(service.post('web', body())).rejects.toThrow();
  expect(await service.exited).toMatchObject({ signal: 'SIGKILL' });
  service = await lab.startService();
  await expectAllAsBefore();
  await service.kill();
});

it.each(moments)('a detach killed at %s, %s it, is finished by the next start', async (step, moment) => {
  service = await startToBeKilled(`${step} undone ${moment}`);
  expect((await service.post('web', body())).status).toBe(201);
  await expect(service.del('web')).rejects.toThrow();
  expect(await service.exited).toMatchObject({ signal: 'SIGKILL' });
  service = await lab.startService();
  await expect.poll(async () => (await service.get('web')).status, { timeout: 15_000 }).toBe(404);
  expect(await everythingOf(lab, service)).toEqual(before);
  await service.kill();
});
