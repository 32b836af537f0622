import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { type Footprint, footprintOf } from './footprint.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let before: Footprint;

beforeAll(async () => {
  // Without router advertisements an ENI with IPv6 only spends three seconds in ATTACHING: time to come in between.
  lab = await Lab.create({ name: 'cancelled' });
  service = await lab.startService();
  before = await footprintOf(lab, service);
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});
beforeEach(async () => {
  await expect.poll(() => footprintOf(lab, service), { timeout: 10_000 }).toEqual(before);
});

const post = (eni: Eni) => service.post('web', { eni: { macAddress: eni.mac } });

async function reaches(state: string): Promise<void> {
  await expect.poll(async () => (await service.get('web')).body.state, { timeout: 10_000, interval: 5 }).toBe(state);
}

async function expectNothingLeft(): Promise<void> {
  await expect.poll(() => footprintOf(lab, service), { timeout: 10_000 }).toEqual(before);
  expect((await service.get('web')).status).toBe(404);
  expect((await service.del('web')).status).toBe(204);
}

it('ends an attach that waits for its ENI, which nobody takes when it comes', async () => {
  const eni = await lab.createEni({ attach: false });
  const posted = post(eni);
  await reaches('PENDING');
  const deleted = await service.del('web');
  expect([200, 204]).toContain(deleted.status);
  expect(await posted).toMatchObject({ status: 409, body: { code: 'cancelled' } });
  await expectNothingLeft();
  await eni.attach();
  expect((await eni.locate())?.name).toBe(eni.hostName);
  expect((await post(eni)).status).toBe(201);
  expect((await service.del('web')).status).toBe(200);
});

it('ends an attach that waits for instance metadata', async () => {
  const eni = await lab.createEni({ inMetadata: false });
  const posted = post(eni);
  await reaches('PENDING');
  expect([200, 204]).toContain((await service.del('web')).status);
  expect(await posted).toMatchObject({ status: 409, body: { code: 'cancelled' } });
  await expectNothingLeft();
});

it('ends an attach that is under way, and brings the ENI home', async () => {
  const eni = await lab.createEni({ ipv6Only: true });
  const posted = post(eni);
  await reaches('ATTACHING');
  await expect.poll(async () => (await eni.locate())?.name, { timeout: 10_000 }).toBe('eth0');
  const deleted = await service.del('web');
  expect(deleted).toMatchObject({ status: 200, body: { state: 'DETACHED', eni: { hostInterface: eni.hostName } } });
  expect(await posted).toMatchObject({ status: 409, body: { code: 'cancelled' } });
  await expectNothingLeft();
  expect(await new Inside(lab.host.path).link(eni.hostName)).toMatchObject({ address: eni.mac, addr_info: [] });
});

it('is one detach, however often it is asked for at once', async () => {
  const eni = await lab.createEni();
  expect((await post(eni)).status).toBe(201);
  const answers = await Promise.all([...Array(5)].map(() => service.del('web')));
  expect(answers.map(({ status }) => status)).toContain(200);
  for (const { status } of answers) expect([200, 204]).toContain(status);
  await expectNothingLeft();
});
