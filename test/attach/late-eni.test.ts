import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandError } from '../lab/command.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;

beforeAll(async () => {
  lab = await Lab.create({ name: 'late ENI' });
  service = await lab.startService();
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

it('is noticed soon after it appears, by all who wait', async () => {
  const enis = await Promise.all([...Array(4)].map(() => lab.createEni({ attach: false })));
  const posted = Promise.all(
    enis.map((eni, n) => service.post(`late-${n}`, { eni: { macAddress: eni.mac }, dhcp: false })),
  );
  await expect.poll(async () => (await service.get('late-3')).body.state, { timeout: 10_000 }).toBe('PENDING');
  const appeared: number[] = [];
  for (const eni of enis) {
    await eni.attach();
    appeared.push(Date.now());
  }
  const delays = (await posted).map(({ status, body }, n) => {
    expect(status, JSON.stringify(body)).toBe(201);
    const wait = body.steps.find(({ name }) => name === 'wait-for-eni');
    return Date.parse(wait?.startedAt ?? '') + (wait?.durationMs ?? 0) - (appeared[n] ?? 0);
  });
  console.log(`noticed after ${delays.map((milliseconds) => milliseconds.toFixed(0)).join(', ')} ms`);
  // 200 ms on a machine that does nothing else.
  expect(Math.max(...delays)).toBeLessThan(1000);
});

it('may be renamed just after it appeared, as udev does', async () => {
  const eni = await lab.createEni({ attach: false, hostName: 'eth7' });
  const posted = service.post('renamed', { eni: { macAddress: eni.mac }, dhcp: false });
  await expect.poll(async () => (await service.get('renamed')).body.state, { timeout: 10_000 }).toBe('PENDING');
  await eni.attach();
  await sleep(20);
  const renamed = await lab.host.run('ip', 'link', 'set', 'eth7', 'name', 'ens7').then(
    () => true,
    (error: unknown) => {
      // The service was quicker.
      if (error instanceof CommandError && error.stderr.includes('Cannot find device')) return false;
      throw error;
    },
  );
  const { status, body } = await posted;
  expect(status, JSON.stringify(body)).toBe(201);
  expect((await new Inside(body.sandbox.netns).link('eth0')).address).toBe(eni.mac);
  const gone = await service.del('renamed');
  expect(gone.body.eni.hostInterface).toBe(renamed ? 'ens7' : 'eth7');
  expect((await new Inside(lab.host.path).link(gone.body.eni.hostInterface)).address).toBe(eni.mac);
});

it('may be renamed again and again while it waits for its metadata, and comes home under its last name', async () => {
  const eni = await lab.createEni({ inMetadata: false, hostName: 'eth8' });
  const posted = service.post('restless', { eni: { macAddress: eni.mac }, dhcp: false });
  await expect.poll(async () => (await service.get('restless')).body.state, { timeout: 10_000 }).toBe('PENDING');
  await lab.host.ipBatch(['link set eth8 name rename8', 'link set rename8 name ens8']);
  const [ipv4 = '', ipv6 = ''] = [eni.ipv4Address, eni.ipv6Address].map((cidr) => cidr?.split('/')[0]);
  await lab.metadata.addInterface({ mac: eni.mac, id: eni.id, deviceNumber: 8, ipv4, ipv6 });
  const { status, body } = await posted;
  expect(status, JSON.stringify(body)).toBe(201);
  expect((await service.del('restless')).body.eni.hostInterface).toBe('ens8');
});

it('serves one of two tasks that waited for it, though one named its id and the other its MAC', async () => {
  const eni = await lab.createEni({ attach: false });
  const bodies = [{ id: eni.id }, { macAddress: eni.mac }].map((named) => ({ eni: named, dhcp: false }));
  const posted = [];
  for (const [n, body] of bodies.entries()) {
    posted.push(service.post(`rival-${n}`, body));
    const waits = async () => (await service.get(`rival-${n}`)).body.steps?.map(({ state }) => state).slice(0, 2);
    await expect.poll(waits, { timeout: 10_000 }).toEqual(['running', 'done']);
  }
  await eni.attach();
  const answers = await Promise.all(posted);
  expect(answers.map(({ status, body }) => [status, body.code]).toSorted()).toEqual([
    [201, undefined],
    [409, 'eni-in-use'],
  ]);
  const loser = answers.findIndex(({ status }) => status === 409);
  expect(answers[loser]?.body.detail).toContain(`rival-${1 - loser}`);
});
