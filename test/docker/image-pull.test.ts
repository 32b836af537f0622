import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import { run } from '../lab/command.js';
import { ControlledProcess } from '../lab/controlled-process.js';
import { DockerProxy } from '../lab/docker-proxy.js';
import { HostNamespace } from '../lab/host-namespace.js';
import { TestEngine } from './engine.js';

const port = 5001;
const image = `127.0.0.1:${port}/pause:1`;

let engine: TestEngine;
let directory: string;
let registry: ControlledProcess;
let sandboxes: DockerSandboxes;
let log: PassThrough;

/** The pause's files, and as much that does not compress as shows a download in progress. */
async function makeLayer(): Promise<string> {
  const file = join(directory, 'layer.tar');
  const source = await engine.docker('create', '--network', 'none', engine.pauseImage);
  await engine.docker('export', '--output', file, source);
  await engine.docker('rm', source);
  await writeFile(join(directory, 'ballast'), randomBytes(4_000_000));
  await run('tar', ['--append', '--file', file, '--directory', directory, 'ballast']);
  return file;
}

beforeAll(async () => {
  engine = await TestEngine.start();
  directory = await mkdtemp(join(tmpdir(), 'registry-'));
  const namespace = new HostNamespace('task-eni-lab-engine', 'task-eni-lab-engine');
  const layer = await makeLayer();
  const [entrypoint = ''] = await engine.inspect<string[]>(engine.pauseImage, '.Config.Entrypoint');
  registry = await ControlledProcess.start(namespace, 'registry-server', directory, [String(port), layer, entrypoint]);
});
beforeEach(async () => {
  log = new PassThrough();
  sandboxes = new DockerSandboxes(engine, pino(log));
  await registry.call('setDuration', 0);
  await registry.call('setPresent', true);
});
afterEach(async () => {
  await engine.clean();
  if ((await engine.docker('images', '--quiet', image)) !== '') await engine.docker('rmi', image);
});
afterAll(async () => {
  await registry.stop();
  await rm(directory, { recursive: true });
  await engine.stop();
});

async function create(name: string, from = image): Promise<void> {
  const request = { name: `${engine.instance}-${name}`, taskId: name as TaskId, image: from, dns: null, hosts: [] };
  (await sandboxes.create(request)).namespace.close();
}

function logged(): { msg: string; progress?: string }[] {
  const text = String(log.read() ?? '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { msg: string; progress?: string });
}

const downloads = () => registry.call<number>('downloads');

describe('a pause image that the engine lacks', () => {
  it('is pulled once for all who wait for it, and the log shows how far it is', { timeout: 60_000 }, async () => {
    await registry.call('setDuration', 7_000);
    const before = await downloads();
    await Promise.all(['a', 'b', 'c'].map((name) => create(name)));
    expect((await downloads()) - before).toBe(1);
    const lines = logged();
    expect(lines.filter(({ msg }) => msg === 'the pause image is there')).toHaveLength(1);
    const progress = lines.flatMap((line) => line.progress ?? []);
    expect(progress.length).toBeGreaterThanOrEqual(1);
    expect(progress.length).toBeLessThanOrEqual(3);
    for (const each of progress) expect(each).toMatch(/^0 of 1 layers, [0-4]\.\d of 4\.\d MB$/);
  });

  it('is not asked for again once it is there', async () => {
    await create('a');
    const before = await downloads();
    await registry.call('setPresent', false);
    await create('b');
    expect(await downloads()).toBe(before);
  });

  const unobtainable = {
    code: 'step-failed',
    detail: expect.stringMatching(
      /^the pause image \S+ is not on this host and cannot be pulled \(.+\)\. Load it with "docker load", or build one with deploy\/pause\/build\.sh and name it in TASK_ENI_PAUSE_IMAGE$/s,
    ),
  };

  it('fails the task, and says how to load it, when the registry does not have it', async () => {
    await registry.call('setPresent', false);
    await expect(create('a')).rejects.toMatchObject(unobtainable);
    expect(await engine.containers()).toEqual([]);
  });

  it('fails the task likewise when there is no registry', async () => {
    await expect(create('a', '127.0.0.1:1/pause:1')).rejects.toMatchObject(unobtainable);
    await expect(create('a', 'Not An Image')).rejects.toMatchObject({ code: 'step-failed' });
  });

  it('makes the engine unavailable when that goes away in the middle of the pull', async () => {
    await registry.call('setDuration', 5_000);
    const proxy = await DockerProxy.start(engine.dockerHost);
    sandboxes = new DockerSandboxes({ dockerHost: proxy.dockerHost, instance: engine.instance }, pino(log));
    const before = await downloads();
    const creating = expect(create('a')).rejects.toMatchObject({ code: 'docker-unavailable' });
    await expect.poll(downloads).toBe(before + 1);
    await proxy.stop();
    await creating;
  });

  it('is pulled by the next task after a pull that failed', async () => {
    await registry.call('setPresent', false);
    await expect(create('a')).rejects.toMatchObject(unobtainable);
    await registry.call('setPresent', true);
    await create('a');
    expect(await engine.containers()).toHaveLength(1);
  });
});
