import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../lab/command.js';
import { BridgeWorld, type TaskNamespace, serverAddress } from './bridge-world.js';
import { fetchIn } from './fetching.js';
import { RunningServer, entryFor } from './running-server.js';

describe('the credentials server is kept running', () => {
  let running: RunningServer;
  let task: TaskNamespace;

  beforeEach(async () => {
    running = await RunningServer.start({ rate: { perSecond: 10_000, burst: 10_000 } });
    task = await running.world.addTask();
    await running.server.put(entryFor(task, 'web'));
  });
  afterEach(() => running.stop());

  const fetch = () => fetchIn(task, '/v2/credentials/id-of-web');
  const bridge = (...args: string[]) => run('ip', ['-n', running.world.bridgeName, ...args]);

  it('killed: it answers the same within a second, and no connection is refused meanwhile', async () => {
    const before = await fetch();
    const fetching = fetchIn(task, '/v2/credentials/id-of-web', { perSecond: 50, seconds: 3 });
    await delay(1000);
    const killed = running.pid();
    const at = performance.now();
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => !existsSync(`/proc/${killed}`) && running.pids().length > 0, { interval: 5 }).toBe(true);
    const after = await fetch();
    expect(performance.now() - at).toBeLessThan(1000);
    expect(after.body).toBe(before.body);
    const { codes } = await fetching;
    // What was being answered in the moment of the kill may be lost; what comes after it waits.
    expect(codes[200]).toBeGreaterThanOrEqual(148);
    expect(Object.keys(codes).filter((code) => code !== '200' && code !== 'ECONNRESET')).toEqual([]);
  });

  it('killed again and again: it comes back', async () => {
    for (let i = 0; i < 4; i++) {
      process.kill(running.pid(), 'SIGKILL');
      await expect.poll(() => running.server.ready(), { timeout: 5000 }).toBe(true);
    }
    expect((await fetch()).codes).toEqual({ 200: 1 });
    expect(running.log.join('')).toContain('SIGKILL');
  });

  it('told to forget while it is dead: the next one does not know', async () => {
    process.kill(running.pid(), 'SIGKILL');
    await running.server.forget('id-of-web');
    expect((await fetch()).codes).toEqual({ 400: 1 });
  });

  it('told of credentials while it is dead: they are answered once that is done', async () => {
    process.kill(running.pid(), 'SIGKILL');
    await running.server.put({ ...entryFor(task, 'late') });
    expect((await fetchIn(task, '/v2/credentials/id-of-late')).codes).toEqual({ 200: 1 });
  });

  it('stopped in its tracks: it is taken for dead and replaced', { timeout: 40_000 }, async () => {
    const stopped = running.pid();
    process.kill(stopped, 'SIGSTOP');
    expect(await running.server.ready()).toBe(false);
    await expect.poll(() => running.server.ready(), { timeout: 30_000 }).toBe(true);
    expect(existsSync(`/proc/${stopped}`)).toBe(false);
  });

  it('without its address: it is not ready, and is again when the address is back', async () => {
    expect(await running.server.ready()).toBe(true);
    await bridge('address', 'delete', `${serverAddress}/32`, 'dev', 'ecs-eni');
    expect(await running.server.ready()).toBe(false);
    expect(running.server.problem).toBe('a fetch over 169.254.170.2:80 was not answered');
    await bridge('address', 'add', `${serverAddress}/32`, 'dev', 'ecs-eni');
    expect(await running.server.ready()).toBe(true);
    expect((await fetch()).codes).toEqual({ 200: 1 });
  });

  it('without its namespace: it goes on in the one that the bridge has then', async () => {
    await run('ip', ['netns', 'delete', running.world.bridgeName]);
    await running.world.makeBridge();
    const another = await running.world.addTask();
    await running.server.put(entryFor(another, 'another'));
    await expect.poll(() => running.server.ready(), { timeout: 10_000 }).toBe(true);
    const fetched = async () => (await fetchIn(another, '/v2/credentials/id-of-another')).codes;
    await expect.poll(fetched, { timeout: 10_000 }).toEqual({ 200: 1 });
  });
});

describe('a credentials server that has not been told of every task', () => {
  it('lets unknown ids come again, and refuses them from then on, its successors too', async () => {
    const running = new RunningServer(await BridgeWorld.make());
    const task = await running.world.addTask();
    const codes = async () => (await fetchIn(task, '/v2/credentials/id-of-nobody')).codes;
    await running.server.start();
    expect(await codes()).toEqual({ 503: 1 });
    await running.server.complete();
    expect(await codes()).toEqual({ 400: 1 });
    process.kill(running.pid(), 'SIGKILL');
    expect(await codes()).toEqual({ 400: 1 });
    await running.stop();
  });
});

describe('a credentials server that cannot serve yet', () => {
  it('says why, and serves as soon as it can', async () => {
    const world = await BridgeWorld.make();
    const address = ['address', 'delete', `${serverAddress}/32`, 'dev', 'ecs-eni'];
    await run('ip', ['-n', world.bridgeName, ...address]);
    const running = new RunningServer(world);
    await running.server.start();
    expect(await running.server.ready()).toBe(false);
    expect(running.server.problem).toBe('listen on 169.254.170.2:80: EADDRNOTAVAIL');
    await run('ip', ['-n', world.bridgeName, ...address.with(1, 'add')]);
    await expect.poll(() => running.server.ready(), { timeout: 10_000 }).toBe(true);
    expect(running.server.problem).toBe('');
    await running.stop();
  });

  it('names the audit log that it cannot open, at once', async () => {
    const world = await BridgeWorld.make();
    await run('mkfifo', [`${world.folder}/fifo`]);
    const running = new RunningServer(world, { auditLog: `${world.folder}/fifo` });
    await expect(running.server.start()).rejects.toThrow(`${world.folder}/fifo`);
    await running.stop();
  });
});
