import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NetworkOrProblem } from '../lab/answers.js';
import type { Churn } from '../lab/churn.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { Answer, ServiceProcess } from '../lab/service-process.js';
import { type Footprint, footprintOf } from './footprint.js';
import { HealthProbe } from './health-probe.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let churn: Churn;
let enis: Eni[];
let before: Footprint;

beforeAll(async () => {
  lab = await Lab.create({ name: 'many at once' });
  await lab.addLinks(150);
  service = await lab.startService({ env: { TASK_ENI_LOG_LEVEL: 'info' } });
  enis = await Promise.all([...Array(24).keys()].map(() => lab.createEni()));
  before = await footprintOf(lab, service);
  churn = lab.startChurn();
});
afterAll(async () => {
  await churn?.stop();
  await service?.stop();
  await lab?.destroy();
});

/** Does the same with each ENI at once, while /healthz is asked. */
async function atOnce(status: number, work: (eni: Eni, taskId: string) => Promise<Answer<NetworkOrProblem>>) {
  const probe = new HealthProbe(service);
  const answers = await Promise.all(enis.map((eni, n) => work(eni, `task-${n}`)));
  const health = await probe.stop();
  expect(answers.map((answer) => answer.status)).toEqual(enis.map(() => status));
  expect(health.asked).toBeGreaterThan(3);
  expect(health.refused).toBe(0);
  return health;
}

const attachAll = () => atOnce(201, (eni, taskId) => service.post(taskId, { eni: { macAddress: eni.mac } }));
const detachAll = () => atOnce(200, (_, taskId) => service.del(taskId));

it('gives each of 24 tasks at once exactly its own ENI and addresses, among 150 other links that come and go', async () => {
  await attachAll();
  const linkLocal = new Set<string>();
  for (const [n, eni] of enis.entries()) {
    const { body } = await service.get(`task-${n}`);
    const task = new Inside(body.sandbox.netns);
    const links = await task.links();
    expect(links.map(({ ifname, address }) => `${ifname} ${address}`)).toContain(`eth0 ${eni.mac}`);
    expect(links).toHaveLength(3);
    const own = `ecs-eth0 ${body.linkLocal.ipv4Address}/32`;
    expect(await task.addresses()).toEqual(
      [own, `eth0 ${eni.ipv4Address}`, `eth0 ${eni.ipv6Address}`, 'lo 127.0.0.1/8', 'lo ::1/128'].toSorted(),
    );
    linkLocal.add(own);
  }
  expect(linkLocal.size).toBe(enis.length);
  await detachAll();
});

it('answers for its health within 100 ms while 24 ENIs are attached, and detached, at once', async () => {
  // What stalls the service does so every time; that other programs hold up the kernel or the processors does not.
  const longest: number[] = [];
  while (longest.length < 3 && !longest.some((milliseconds) => milliseconds < 100)) {
    const [attached, detached] = [await attachAll(), await detachAll()];
    console.log('health', JSON.stringify({ attached, detached }));
    longest.push(Math.max(attached.longestOwn, detached.longestOwn));
  }
  expect(Math.min(...longest)).toBeLessThan(100);
});

it('is as before once all are detached, and the ENIs are home, down and bare', async () => {
  await churn.stop();
  await expect.poll(() => footprintOf(lab, service), { timeout: 20_000 }).toEqual(before);
  const home = await new Inside(lab.host.path).links();
  for (const eni of enis) {
    const link = home.find(({ ifname }) => ifname === eni.hostName);
    expect(link).toMatchObject({ address: eni.mac, addr_info: [] });
    expect(link?.flags).not.toContain('UP');
  }
});
