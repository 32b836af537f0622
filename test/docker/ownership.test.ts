import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import { TestEngine } from './engine.js';

const web = 'web-1' as TaskId;
const api = 'api-1' as TaskId;
const logger = pino({ level: 'silent' });

let engine: TestEngine;
let ours: DockerSandboxes;
let others: DockerSandboxes;

/** Two services on one engine, which differ in nothing but their instance. */
beforeAll(async () => {
  engine = await TestEngine.start();
  ours = new DockerSandboxes(engine, logger);
  others = new DockerSandboxes({ dockerHost: engine.dockerHost, instance: `${engine.instance}-other` }, logger);
});
afterEach(() => engine.clean());
afterAll(() => engine.stop());

async function create(sandboxes: DockerSandboxes, name: string, taskId: TaskId): Promise<string> {
  const request = { name: `${engine.instance}-${name}`, taskId, image: engine.pauseImage, dns: null, hosts: [] };
  const { record, namespace } = await sandboxes.create(request);
  namespace.close();
  return record.containerId!;
}

const running = (id: string) => engine.inspect<boolean>(id, '.State.Running');

describe('two instances on one engine', () => {
  it('see their own containers only', async () => {
    const mine = await create(ours, 'a', web);
    const theirs = await create(others, 'b', web);
    await engine.container('stranger');
    const name = (suffix: string) => `${engine.instance}-${suffix}`;
    expect(await ours.list()).toEqual([{ containerId: mine, name: name('a'), task: web, running: true }]);
    expect(await others.list()).toEqual([{ containerId: theirs, name: name('b'), task: web, running: true }]);
  });

  it('neither take over nor remove the other’s container, though it has the name and the task', async () => {
    const theirs = await create(others, 'a', web);
    await expect(create(ours, 'a', web)).rejects.toMatchObject({ code: 'unusable-sandbox' });
    expect(await ours.remove(`${engine.instance}-a`, web)).toBe('not-ours');
    expect(await running(theirs)).toBe(true);
  });
});

describe('removing a pause container', () => {
  it('kills it at once, by name or by id, and finds it gone the next time', async () => {
    const id = await create(ours, 'a', web);
    expect(await ours.remove(`${engine.instance}-a`, web)).toBe('removed');
    expect(await engine.containers()).toEqual([]);
    expect(await ours.remove(id, web)).toBe('absent');
    const again = await create(ours, 'a', web);
    expect(await ours.remove(again, web)).toBe('removed');
  });

  it('succeeds for each of those who do it at once', async () => {
    const id = await create(ours, 'a', web);
    const outcomes = await Promise.all([ours.remove(id, web), ours.remove(id, web), ours.remove(id, web)]);
    expect(outcomes).toContain('removed');
    expect(await engine.containers()).toEqual([]);
  });

  it("leaves another task's alone, and a stranger's", async () => {
    const id = await create(ours, 'a', web);
    const stranger = await engine.container('stranger');
    expect(await ours.remove(id, api)).toBe('not-ours');
    expect(await ours.remove(stranger, web)).toBe('not-ours');
    expect(await running(id)).toBe(true);
    expect(await running(stranger)).toBe(true);
  });

  it('takes a dead one away, too, which until then is listed as dead', async () => {
    const id = await create(ours, 'a', web);
    await engine.docker('kill', id);
    expect(await ours.list()).toMatchObject([{ containerId: id, running: false }]);
    expect(await ours.remove(id, web)).toBe('removed');
    expect(await ours.list()).toEqual([]);
  });

  it('says that nothing is there of a name that no container can have', async () => {
    expect(await ours.remove('../web', web)).toBe('absent');
  });
});

describe('the containers that joined one', () => {
  it('are those that run, whichever way they named it', async () => {
    const id = await create(ours, 'a', web);
    const byId = await engine.container('by-id', '--network', `container:${id}`);
    const byName = await engine.container('by-name', '--network', `container:${engine.instance}-a`);
    const dead = await engine.container('dead', '--network', `container:${id}`);
    await engine.docker('kill', dead);
    await engine.container('apart', '--network', 'none');
    expect((await ours.joined(id)).toSorted()).toEqual([byId, byName].toSorted());
  });

  it('are none when it is gone', async () => {
    expect(await ours.joined('0'.repeat(64))).toEqual([]);
  });
});
