import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Churn } from '../lab/churn.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let churn: Churn;

/**
 * The messages of 80 moves and of the churn overran a socket that had joined link events, which cannot be caught. How large
 * a receive buffer may become is one setting of the whole machine (net.core.rmem_max), so it is left alone here: the service
 * runs without the capability that goes past it, and its sockets have the default size, which 212992 is.
 */
const ordinaryBuffers = 212_992;

beforeAll(async () => {
  lab = await Lab.create({ name: 'eighty at once' });
  service = await lab.startService({ env: { TASK_ENI_LOG_LEVEL: 'info' } });
  churn = lab.startChurn();
});
afterAll(async () => {
  await churn?.stop();
  await service?.stop();
  await lab?.destroy();
});

/** Receive buffers of the service's netlink sockets, in bytes, as `ss` shows them. */
async function receiveBuffers(): Promise<number[]> {
  const text = await lab.host.run('ss', '-f', 'netlink', '-a', '-m', '-p', '-H');
  const own = text
    .split('\n')
    .filter((line) => line.includes(`/${service.pid}`) || line.includes(`pid=${service.pid},`));
  return own.flatMap((line) => Number(/,rb(\d+),/.exec(line)?.[1] ?? []));
}

/** Multicast groups that the service's netlink sockets have joined, of those in its own namespace. */
async function memberships(): Promise<number[]> {
  const text = await lab.host.run('cat', '/proc/net/netlink');
  const own = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , port]) => Number(port) === service.pid);
  return own.map(([, , , groups = '']) => Number.parseInt(groups, 16));
}

it('listens to no link events in its main process, and needs no larger buffers than any socket has', async () => {
  const buffers = await receiveBuffers();
  expect(buffers.length).toBeGreaterThan(0);
  expect(Math.max(...buffers)).toBeLessThanOrEqual(ordinaryBuffers);
  expect((await memberships()).every((groups) => groups === 0)).toBe(true);
});

it('lives through 80 attaches at once among links that come and go, each with its own ENI', async () => {
  const enis = await Promise.all([...Array(80).keys()].map(() => lab.createEni()));
  const start = performance.now();
  const answers = await Promise.all(
    enis.map((eni, n) => service.post(`task-${n}`, { eni: { macAddress: eni.mac }, dhcp: false })),
  );
  console.log(`80 attaches at once: ${(performance.now() - start).toFixed(0)} ms`);
  expect(answers.map(({ status }) => status)).toEqual(enis.map(() => 201));
  for (const [n, { body }] of answers.entries()) {
    const task = new Inside(body.sandbox.netns);
    expect((await task.link('eth0')).address).toBe(enis[n]?.mac);
  }
  const gone = await Promise.all(enis.map((_, n) => service.del(`task-${n}`)));
  expect(gone.map(({ status }) => status)).toEqual(enis.map(() => 200));
  expect((await service.api('GET', '/healthz')).status).toBe(200);
}, 120_000);
