import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Subnet, type Task, clientPids, count, until } from './subnet.js';

let subnet: Subnet;
const tasks: Task[] = [];

beforeAll(async () => {
  subnet = await Subnet.create();
  for (let i = 0; i < 100; i++) tasks.push(await subnet.createTask(`task-${i}`));
  await subnet.serve(tasks);
}, 120_000);

afterAll(() => subnet.destroy(), 60_000);

it('leaves nothing of a hundred tasks once they are stopped', { timeout: 120_000 }, async () => {
  const descriptors = readdirSync('/proc/self/fd').length;
  const clients = subnet.clients();
  for (const task of tasks) clients.start(task);
  await until('two hundred leases', 60, () => count(clients, 'bound') === 200);
  await Promise.all(tasks.map((task) => clients.stop(task.hash)));
  expect(clients.states()).toEqual([]);
  for (const task of tasks) expect(clientPids(task)).toEqual([]);
  const hashes = tasks.map((task) => task.hash);
  expect(readdirSync('/var/lib/dhcp').filter((name) => hashes.some((hash) => name.includes(hash)))).toEqual([]);
  expect(readdirSync('/proc/self/fd')).toHaveLength(descriptors);
});
