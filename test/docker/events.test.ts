import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import type { ContainerEvent, DockerEvents } from '../../src/sandboxes/docker-events.js';
import { DockerProxy } from '../lab/docker-proxy.js';
import { TestEngine } from './engine.js';

let engine: TestEngine;
let proxy: DockerProxy;
let events: DockerEvents;
let told: ContainerEvent[];
let relists: number;

/** Within what the service promises for a sandbox that went away by itself. */
const within = { timeout: 10_000, interval: 50 };

const toldOf = (containerId: string, action: string) =>
  expect.poll(
    () => told.filter((event) => event.containerId === containerId && event.action === action).length,
    within,
  );

beforeAll(async () => {
  engine = await TestEngine.start();
});
beforeEach(async () => {
  told = [];
  relists = 0;
  proxy = await DockerProxy.start(engine.dockerHost);
  const logger = pino({ level: 'silent' });
  const sandboxes = new DockerSandboxes({ dockerHost: proxy.dockerHost, instance: engine.instance }, logger);
  events = sandboxes.watch(
    (event) => told.push(event),
    () => (relists += 1),
  );
  await expect.poll(() => relists, within).toBe(1);
});
afterEach(async () => {
  await events.stop();
  await proxy.stop();
  await engine.clean();
});
afterAll(() => engine.stop());

describe("Docker's events", () => {
  it('tell of any container that starts, dies and is removed, once each', async () => {
    const id = await engine.container('a');
    await engine.docker('kill', id);
    await engine.docker('rm', id);
    await toldOf(id, 'destroy').toBe(1);
    // Long enough for a look back over the other connection.
    await sleep(4_500);
    expect(told.filter(({ containerId }) => containerId === id).map(({ action }) => action)).toEqual([
      'start',
      'die',
      'destroy',
    ]);
    expect(relists).toBe(1);
  });

  it('tell of a restart', async () => {
    const id = await engine.container('a');
    await engine.docker('restart', '--time', '0', id);
    await toldOf(id, 'start').toBe(2);
    await toldOf(id, 'die').toBe(1);
  });

  it('are followed again after the engine was away, and a relist makes up for what was missed', async () => {
    const id = await engine.container('a');
    await toldOf(id, 'start').toBe(1);
    await proxy.close();
    await engine.docker('kill', id);
    await sleep(500);
    await proxy.open();
    await expect.poll(() => relists, within).toBe(2);
    await engine.docker('start', id);
    await toldOf(id, 'start').toBe(2);
  });

  it('are followed again after an engine that did not answer for a while', async () => {
    proxy.freeze();
    proxy.hang();
    await sleep(7_000);
    await proxy.open();
    await expect.poll(() => relists, within).toBe(2);
    const id = await engine.container('a');
    await toldOf(id, 'start').toBe(1);
  });

  it('are told although the stream delivers nothing any more and does not say so', async () => {
    const id = await engine.container('a');
    await toldOf(id, 'start').toBe(1);
    proxy.freeze();
    await engine.docker('kill', id);
    await toldOf(id, 'die').toBe(1);
    await expect.poll(() => relists, within).toBe(2);
    await engine.docker('start', id);
    await toldOf(id, 'start').toBe(2);
  });

  it('end when they are stopped, and leave no connection behind', async () => {
    await events.stop();
    await expect.poll(() => proxy.connections).toBe(0);
    const id = await engine.container('a');
    await sleep(300);
    expect(told.filter(({ containerId }) => containerId === id)).toEqual([]);
  });

  it('are stopped at once while the engine does not answer', async () => {
    proxy.freeze();
    proxy.hang();
    await sleep(3_500);
    const started = Date.now();
    await events.stop();
    expect(Date.now() - started).toBeLessThan(1_000);
  });

  it('survive a listener that throws', async () => {
    const broken = new DockerSandboxes(
      { dockerHost: proxy.dockerHost, instance: engine.instance },
      pino({ level: 'silent' }),
    ).watch(
      (event) => {
        told.push(event);
        throw new Error('not today');
      },
      () => {
        throw new Error('nor ever');
      },
    );
    const id = await engine.container('a');
    await engine.docker('kill', id);
    await toldOf(id, 'die').toBe(2);
    await broken.stop();
  });
});
