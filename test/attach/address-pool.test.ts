import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Host } from '../lab/answers.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let enis: Eni[];
/** Network, broadcast and the bridge's own are not given out: five of a /29 are. */
const env = { TASK_ENI_BRIDGE_SUBNET: '169.254.172.0/29' };
/** Ids as long as they may be, and alike but for their case or their last letter. */
const ids = [`${'a'.repeat(254)}1`, `${'a'.repeat(254)}2`, 'Web', 'web', 'w.e:b-_'];

beforeAll(async () => {
  lab = await Lab.create({ name: 'address pool' });
  service = await lab.startService({ env });
  enis = await Promise.all([...Array(6)].map(() => lab.createEni()));
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

const attach = (taskId: string, n: number) => service.post(taskId, { eni: { macAddress: enis[n]?.mac }, dhcp: false });

async function allocated(): Promise<Host['linkLocal']> {
  return (await service.api<Host>('GET', '/host')).body.linkLocal;
}

it('gives tasks with much the same ids, all at once, addresses and ports of their own', async () => {
  const answers = await Promise.all(ids.map(attach));
  expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 201));
  const addresses = answers.map(({ body }) => body.linkLocal.ipv4Address);
  expect(addresses.toSorted()).toEqual([2, 3, 4, 5, 6].map((n) => `169.254.172.${n}`));
  expect(new Set(answers.map(({ body }) => body.linkLocal.hostInterface)).size).toBe(ids.length);
  for (const [n, { body }] of answers.entries()) {
    expect(body.taskId).toBe(ids[n]);
    expect((await new Inside(body.sandbox.netns).link('eth0')).address).toBe(enis[n]?.mac);
  }
  expect(await allocated()).toMatchObject({ capacity: 5, allocated: 5 });
});

it('when exhausted refuses one more, and leaves its ENI untouched', async () => {
  const eni = enis[5];
  const host = new Inside(lab.host.path);
  await lab.host.ipBatch([`link set ${eni?.hostName} up`, `address add ${eni?.ipv4Address} dev ${eni?.hostName}`]);
  const before = await host.addresses();
  const answer = await attach('one-more', 5);
  expect(answer).toMatchObject({ status: 503, body: { code: 'address-pool-exhausted' } });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(await host.addresses()).toEqual(before);
  expect((await host.link(eni?.hostName ?? '')).flags).toContain('UP');
});

it('has one again as soon as a task is gone', async () => {
  const freed = (await service.del('Web')).body.linkLocal.ipv4Address;
  const { status, body } = await attach('one-more', 5);
  expect(status).toBe(201);
  expect(body.linkLocal.ipv4Address).toBe(freed);
});

it('lets a freed address rest while there are others, also over a restart', async () => {
  for (const taskId of ['one-more', ...ids]) expect([200, 204]).toContain((await service.del(taskId)).status);
  expect(await allocated()).toMatchObject({ allocated: 0 });
  const given: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    if (n === 3 || n === 7) {
      await service.stop();
      service = await lab.startService({ env });
    }
    const { status, body } = await attach('again', n % enis.length);
    expect(status, JSON.stringify(body)).toBe(201);
    given.push(body.linkLocal.ipv4Address);
    expect((await service.del('again')).status).toBe(200);
  }
  expect(new Set(given.slice(0, 5)).size).toBe(5);
  expect(given.slice(5)).toEqual(given.slice(0, 5));
});
