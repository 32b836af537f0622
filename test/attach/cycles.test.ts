import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { childrenOf, footprintOf, memoryOf, threadNamespacesOf } from './footprint.js';

const atOnce = 8;
let lab: Lab;
let service: ServiceProcess;
let enis: Eni[];

beforeAll(async () => {
  lab = await Lab.create({ name: 'cycles' });
  service = await lab.startService({ env: { TASK_ENI_LOG_LEVEL: 'info' } });
  enis = await Promise.all([...Array(atOnce).keys()].map(() => lab.createEni()));
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

async function cycle(eni: Eni, taskId: string): Promise<void> {
  const attached = await service.post(taskId, { eni: { macAddress: eni.mac } });
  expect(attached.status, JSON.stringify(attached.body)).toBe(201);
  expect(attached.body.eni.macAddress).toBe(eni.mac);
  expect((await service.del(taskId)).status).toBe(200);
}

/** Cycles of all ENIs side by side, each as fast as it can. */
async function cycles(each: number): Promise<void> {
  await Promise.all(
    enis.map(async (eni, n) => {
      for (let count = 0; count < each; count += 1) await cycle(eni, `task-${n}`);
    }),
  );
}

function stateOf(pid: string): string {
  return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
}

it('does not grow over 200 cycles of attach and detach, eight at a time', async () => {
  await cycles(3);
  const before = await footprintOf(lab, service);
  const memory = memoryOf(service.pid);
  await cycles(25);
  console.log(`resident memory: ${memory.toFixed(0)} MiB, after 200 cycles ${memoryOf(service.pid).toFixed(0)} MiB`);
  await expect.poll(() => footprintOf(lab, service), { timeout: 20_000 }).toEqual(before);
  // A heap fills before it is collected: what 200 leaked tasks would add is far more than this.
  expect(memoryOf(service.pid) - memory).toBeLessThan(64);
}, 120_000);

it("leaves every thread in the host's namespace, and no dead child", () => {
  expect([...threadNamespacesOf(service.pid)]).toHaveLength(1);
  expect(childrenOf(service.pid).map(stateOf)).not.toContain('Z');
});
