import { writeFileSync } from 'node:fs';
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
  'register-credentials',
  'start-dhcp',
];
const points = steps.flatMap((step) => ['before', 'after'].map((moment) => [step, moment] as const));

let lab: Lab;
let eni: Eni;
let service: ServiceProcess;
let failFile: string;
let before: Record<string, unknown>;

beforeAll(async () => {
  lab = await Lab.create({ name: 'failed' });
  eni = await lab.createEni();
  failFile = `${lab.directory}/fail`;
  service = await lab.startService({
    nodeArgs: ['--import', fileURLToPath(new URL('fail-at.mjs', import.meta.url))],
    env: { FAIL_FILE: failFile, FAIL_DIST: fileURLToPath(new URL('../../dist', import.meta.url)) },
  });
  before = await everythingOf(lab, service);
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

const post = () =>
  service.post('web', {
    eni: { macAddress: eni.mac },
    credentials: {
      source: 'pushed',
      roleArn: 'arn:aws:iam::123456789012:role/web',
      accessKeyId: 'ASIAEXAMPLE000000001',
      secretAccessKey: 'secret',
      sessionToken: 'token',
      expiration: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });

async function stateNow(): Promise<Record<string, unknown>> {
  const { tasks: _, ...rest } = await everythingOf(lab, service);
  return rest;
}

it.each(points)('a failure of %s, %s its work, is named, and all is as before', async (step, moment) => {
  writeFileSync(failFile, `${step} ${moment}`);
  const failed = await post();
  expect(failed).toMatchObject({ status: 500, body: { code: 'step-failed', step, taskId: 'web' } });
  expect(failed.body).toHaveProperty('detail', expect.stringContaining('EIO'));
  const { tasks: _, ...then } = before;
  expect(await stateNow()).toEqual(then);
  const { body: network } = await service.get('web');
  expect(network).toMatchObject({ state: 'FAILED', error: { code: 'step-failed', step } });
});

it('a task that failed is attached by the next POST as if nothing had been', async () => {
  expect(await post()).toMatchObject({ status: 201, body: { state: 'READY' } });
  expect((await service.del('web')).status).toBe(200);
  expect(await everythingOf(lab, service)).toEqual(before);
});
