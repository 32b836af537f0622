import { existsSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { startTime } from '../lab/lab-id.js';
import { ServiceWorld, assumeRole, fetchAs, pushedFor } from './service-world.js';
import { descriptorsOf } from './running-server.js';

describe('the credentials server of the service', () => {
  let world: ServiceWorld;
  beforeEach(async () => {
    world = await ServiceWorld.make();
  });
  afterEach(() => world?.lab.destroy());

  const ready = async () => (await world.service.api('GET', '/readyz')).status;

  it('is back within a second of being killed, with the same answers', async () => {
    const task = await world.attach('web', assumeRole('app'));
    const before = await fetchAs(task);
    const killed = world.serverPid();
    const at = performance.now();
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => startTime(killed), { interval: 5 }).toBeUndefined();
    const after = await fetchAs(task);
    expect(performance.now() - at).toBeLessThan(1000);
    expect(after.body).toBe(before.body);
    await expect.poll(ready).toBe(200);
    expect((await world.sts.calls()).filter(({ action }) => action === 'AssumeRole')).toHaveLength(1);
  });

  it('inherits nothing of the service but what it is given', async () => {
    await world.attach('web', pushedFor('web'));
    const pid = world.serverPid();
    const held = descriptorsOf(pid).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    const known = [
      /^\/dev\/null$/,
      /^socket:/,
      /^pipe:/,
      /^anon_inode:\[(eventpoll|eventfd|io_uring)\]$/,
      /\/audit\.log$/,
    ];
    expect(held.filter((target) => !known.some((pattern) => pattern.test(target)))).toEqual([]);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/TASK_ENI|AWS/);
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapEff:\t0{16}$/m);
  });

  it('ends with the service, however that ends', async () => {
    const pid = world.serverPid();
    await world.service.kill();
    await expect.poll(() => startTime(pid)).toBeUndefined();
  });

  it('writes to a new audit log once the former was renamed and the service got SIGHUP', async () => {
    const task = await world.attach('web', pushedFor('web'));
    const log = `${world.lab.directory}/audit.log`;
    const fetching = fetchAs(task, task, { perSecond: 30, seconds: 4, keepAlive: true });
    const pid = world.serverPid();
    renameSync(log, `${log}.1`);
    process.kill(world.service.pid, 'SIGHUP');
    await expect.poll(() => existsSync(log) && world.serverPid() !== pid, { timeout: 5000 }).toBe(true);
    expect((await fetching).codes).toEqual({ 200: 120 });
    const lines = () => [`${log}.1`, log].map((path) => readFileSync(path, 'utf8').split('\n').length - 1);
    await expect.poll(() => lines().reduce((sum, count) => sum + count)).toBe(120);
    expect(lines()[1]).toBeGreaterThan(0);
  });

  it("never takes an id of before for nobody's, however long a start takes", async () => {
    const task = await world.attach('web', pushedFor('web'));
    await world.service.kill();
    const slow = await world.lab.metadata.fail({ kind: 'delay', milliseconds: 1500 });
    const fetching = fetchAs(task, task, { perSecond: 20, seconds: 12 });
    await world.serveAgain();
    await world.lab.metadata.heal(slow);
    const { codes } = await fetching;
    expect(Object.keys(codes)).not.toContain('400');
    expect(codes[503]).toBeGreaterThan(0);
    expect(codes[200]).toBeGreaterThan(0);
  });

  it(
    'knows a hundred tasks at once after the service was killed, and has their credentials soon',
    { timeout: 240_000 },
    async () => {
      const tasks: Network[] = [];
      for (let i = 0; i < 100; i++)
        tasks.push(await world.attach(`task-${i}`, i % 2 === 0 ? assumeRole('app') : pushedFor('app')));
      await world.service.kill();
      const fault = await world.sts.fail({ kind: 'delay', key: 'AssumeRole', milliseconds: 2000 });
      await world.serveAgain();
      const codes = async (which: Network[]) => {
        const answers = await Promise.all(which.map(async (task) => Object.keys((await fetchAs(task)).codes).join()));
        return [...new Set(answers)];
      };
      const assumed = tasks.filter((_, i) => i % 2 === 0);
      // The last ones: their turn comes later.
      expect(await codes(assumed.slice(-3))).toEqual(['503']);
      expect(await codes(tasks.filter((_, i) => i % 2 === 1).slice(0, 5))).toEqual(['200']);
      await world.sts.heal(fault);
      for (let i = 0; i < tasks.length; i += 10)
        await expect.poll(() => codes(tasks.slice(i, i + 10)), { timeout: 30_000, interval: 500 }).toEqual(['200']);
    },
  );
});
