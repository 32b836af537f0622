import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import { BareSandboxes } from '../../src/sandboxes/bare.js';
import { Sandboxes } from '../../src/sandboxes/sandboxes.js';
import { DockerProxy } from '../lab/docker-proxy.js';
import { TestEngine } from './engine.js';

const task = 'web-1' as TaskId;
const logger = pino({ level: 'silent' });
const away = { code: 'docker-unavailable' };

let engine: TestEngine;
let proxy: DockerProxy;
let sandboxes: DockerSandboxes;

beforeAll(async () => {
  engine = await TestEngine.start();
});
beforeEach(async () => {
  proxy = await DockerProxy.start(engine.dockerHost);
  sandboxes = new DockerSandboxes({ dockerHost: proxy.dockerHost, instance: engine.instance }, logger);
});
afterEach(async () => {
  await proxy.stop();
  await engine.clean();
});
afterAll(() => engine.stop());

const request = () => ({ name: `${engine.instance}-a`, taskId: task, image: engine.pauseImage, dns: null, hosts: [] });

const everyCall: [string, () => Promise<unknown>][] = [
  ['create', () => sandboxes.create(request())],
  ['inspect', () => sandboxes.inspect('web')],
  ['joined', () => sandboxes.joined('web')],
  ['remove', () => sandboxes.remove('web', task)],
  ['list', () => sandboxes.list()],
  ['ping', () => sandboxes.ping()],
];

describe('an engine that is not there', () => {
  it.each(everyCall)('makes %s docker-unavailable', async (_name, call) => {
    await proxy.close();
    await expect(call()).rejects.toMatchObject(away);
  });

  it('is named, with the reason', async () => {
    await proxy.close();
    await expect(sandboxes.ping()).rejects.toThrow(`the Docker engine at ${proxy.dockerHost} did not answer a ping: `);
  });

  it('is used again once it is there', async () => {
    await proxy.close();
    await expect(sandboxes.list()).rejects.toMatchObject(away);
    await proxy.open();
    await expect(sandboxes.list()).resolves.toEqual([]);
  });
});

describe('an engine that takes connections and does not answer', () => {
  it('makes every call docker-unavailable in the end', { timeout: 60_000 }, async () => {
    proxy.hang();
    const started = Date.now();
    const outcomes = await Promise.allSettled(everyCall.map(([, call]) => call()));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: away });
    expect(Date.now() - started).toBeLessThan(35_000);
  });

  it('is not left with open connections', { timeout: 30_000 }, async () => {
    proxy.hang();
    await expect(sandboxes.ping()).rejects.toMatchObject(away);
    await expect.poll(() => proxy.unanswered).toBe(0);
  });
});

describe('an engine that breaks off in the middle of an answer', () => {
  it.each([40, 600])('does not leave the caller waiting: %i bytes', { timeout: 30_000 }, async (bytes) => {
    await engine.container('a', '--label', `task-eni.instance=${engine.instance}`);
    expect(await sandboxes.list()).toHaveLength(1);
    proxy.truncateAfter(bytes);
    await expect(sandboxes.list()).rejects.toMatchObject(away);
  });
});

describe('a task whose engine is away', () => {
  it('is held to be alive as long as its namespace is there', { timeout: 60_000 }, async () => {
    const { record, namespace } = await sandboxes.create(request());
    namespace.close();
    const all = new Sandboxes(sandboxes, new BareSandboxes(engine.instance), () => []);
    await proxy.close();
    expect(await all.alive(record)).toBe(true);
    await engine.docker('rm', '--force', record.containerId!);
    await sleep(50);
    expect(await all.alive(record)).toBe(false);
  });
});
