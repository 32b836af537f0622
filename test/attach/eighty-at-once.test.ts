import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Churn } from '../lab/churn.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let churn: Churn;

/**
 * The messages of 80 moves and of the churn overran a socket that had joined link events, which cannot be caught. How large
 * a receive buffer may become is one setting of the whole machine (net.core.rmem_max), so it is left alone here; instead the
 * service's sockets are seen to have no more than the kernel's default, which 212992 is.
 */
const ordinaryBuffers = 212_992;

beforeAll(async () => {
  lab = await Lab.create({ name: 'eighty at once' });
  service = await lab.startService({ env: { TASK_ENI_LOG_LEVEL: 'info' } });
});
afterAll(async () => {
  await churn?.stop();
  await service?.stop();
  await lab?.destroy();
});

/** Receive buffers of the netlink sockets in the host's namespace, in bytes: while nothing else happens, the service's alone. */
async function receiveBuffers(): Promise<number[]> {
  const text = await lab.host.run('ss', '-f', 'netlink', '-a', '-m', '-H');
  const own = text.split('\n').filter((line) => line.includes('rtnl:') && !line.includes(':kernel'));
  return own.map((line) => Number(/,rb(\d+),/.exec(line)?.[1]));
}

/** The multicast groups that those sockets have joined, as masks. */
async function memberships(): Promise<string[]> {
  const text = await lab.host.run('cat', '/proc/net/netlink');
  const lines = text.trim().split('\n').slice(1);
  // Columns: address, protocol (0: rtnetlink), port (0: the kernel's own), groups.
  const words = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, protocol, port]) => protocol === '0' && port !== '0');
  return words.map(([, , , groups = '']) => groups);
}

it('listens to no link events in its main process, and needs no larger buffers than any socket has', async () => {
  const buffers = await receiveBuffers();
  expect(buffers.length).toBeGreaterThan(0);
  for (const bytes of buffers) expect(bytes).toBeLessThanOrEqual(ordinaryBuffers);
  const groups = await memberships();
  expect(groups.length).toBeGreaterThan(0);
  for (const mask of groups) expect(mask).toBe('00000000');
});

it('lives through 80 attaches at once among links that come and go, each with its own ENI', async () => {
  const enis = await Promise.all([...Array(80).keys()].map(() => lab.createEni()));
  churn = lab.startChurn();
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
