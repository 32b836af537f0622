import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { openNamespace } from '../../src/kernel/namespaces.js';
import { BareSandboxes } from '../../src/sandboxes/bare.js';
import type { ForbiddenNamespace } from '../../src/sandboxes/borrowed.js';
import type { Container } from '../../src/sandboxes/container.js';
import { openContainerNamespace } from '../../src/sandboxes/container-namespace.js';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import { Sandboxes } from '../../src/sandboxes/sandboxes.js';
import type { SandboxRecord } from '../../src/store/record.js';
import { run } from '../lab/command.js';
import { TestEngine } from './engine.js';

const web = 'web-1' as TaskId;

let engine: TestEngine;
let sandboxes: Sandboxes;
const forbidden: ForbiddenNamespace[] = [];

beforeAll(async () => {
  engine = await TestEngine.start();
  const docker = new DockerSandboxes(engine, pino({ level: 'silent' }));
  sandboxes = new Sandboxes(docker, new BareSandboxes(engine.instance), () => forbidden);
});
afterEach(async () => {
  forbidden.length = 0;
  await engine.clean();
});
afterAll(() => engine.stop());

const planned = () => ({
  kind: 'docker' as const,
  owned: true as const,
  name: `${engine.instance}-a`,
  image: engine.pauseImage,
  dns: null,
  hosts: [],
});

async function create(): Promise<SandboxRecord> {
  const { record, namespace } = await sandboxes.create(planned(), web);
  namespace.close();
  return record;
}

/** Whether the namespace that the record names can be opened, and is the same. */
function opens(record: SandboxRecord): boolean {
  const namespace = sandboxes.open(record);
  namespace?.close();
  return namespace !== undefined;
}

const unusable = (sentence: RegExp) => ({ code: 'unusable-sandbox', detail: expect.stringMatching(sentence) });

describe("a record's sandbox", () => {
  it('is the one it was made with', async () => {
    const record = await create();
    expect(opens(record)).toBe(true);
    expect(await sandboxes.alive(record)).toBe(true);
  });

  it('is gone when its container is', async () => {
    const record = await create();
    await engine.docker('kill', record.containerId!);
    expect(opens(record)).toBe(false);
    expect(await sandboxes.alive(record)).toBe(false);
  });

  it('is another after a restart, though Docker may give it the same inode', async () => {
    const record = await create();
    await engine.docker('restart', '--time', '0', record.containerId!);
    expect(opens(record)).toBe(false);
    expect(await sandboxes.alive(record)).toBe(false);
    const again = await create();
    expect(again.containerId).toBe(record.containerId);
    expect(again.cookie).not.toBe(record.cookie);
  });

  it("is found by its process when Docker's mount of it has gone", async () => {
    const record = await create();
    expect(opens({ ...record, netns: '/run/netns/none-such' })).toBe(true);
  });

  it('is never the namespace that another process of the same number is in', async () => {
    const record = await create();
    expect(opens({ ...record, netns: '/run/netns/none-such', pid: process.pid })).toBe(false);
  });

  it('is gone, too, when only a mount that a crashed engine left behind still holds the namespace', async () => {
    const record = await create();
    const left = { ...record, netns: `/run/netns/te${process.pid}n0-left` };
    await run('mkdir', ['--parents', '/run/netns']);
    await run('touch', [left.netns]);
    await run('mount', ['--bind', record.netns, left.netns]);
    try {
      await engine.docker('kill', record.containerId!);
      expect(opens(left)).toBe(true);
      expect(await sandboxes.alive(left)).toBe(false);
    } finally {
      await run('umount', [left.netns]);
      await run('rm', [left.netns]);
    }
  });

  it('is removed with its container, and absent the next time', async () => {
    await create();
    await sandboxes.remove(planned(), web);
    expect(await engine.containers()).toEqual([]);
    await sandboxes.remove(planned(), web);
  });
});

describe("a caller's container", () => {
  it('lends its namespace, named by id, name or the beginning of the id, and stays when the task ends', async () => {
    const id = await engine.container('mine', '--network', 'none');
    for (const containerId of [id, `${engine.instance}-mine`, id.slice(0, 12)]) {
      const plan = { kind: 'docker' as const, owned: false as const, containerId };
      const { record, namespace } = await sandboxes.create(plan, web);
      namespace.close();
      expect(record).toMatchObject({ kind: 'docker', owned: false, containerId: id });
      expect(opens(record)).toBe(true);
      await sandboxes.remove(plan, web);
    }
    expect(await engine.inspect(id, '.State.Running')).toBe(true);
  });

  const borrow = (containerId: string) => sandboxes.borrow({ kind: 'container', containerId });

  it('is refused when it does not exist or does not run', async () => {
    await expect(borrow('none-such')).rejects.toMatchObject(unusable(/^there is no container none-such$/));
    const id = await engine.container('mine', '--network', 'none');
    await engine.docker('kill', id);
    await expect(borrow(id)).rejects.toMatchObject(unusable(/is not running$/));
  });

  it('is refused when it has no namespace of its own', async () => {
    const host = await engine.container('host', '--network', 'host');
    await expect(borrow(host)).rejects.toMatchObject(unusable(/is in the host's network namespace$/));
    const owner = await engine.container('owner', '--network', 'none');
    const joined = await engine.container('joined', '--network', `container:${owner}`);
    await expect(borrow(joined)).rejects.toMatchObject(
      unusable(new RegExp(`of the container ${owner}: name that one$`)),
    );
  });

  it('is refused when its namespace is one that no task may have', async () => {
    const id = await engine.container('mine', '--network', 'none');
    const key = await engine.inspect<string>(id, '.NetworkSettings.SandboxKey');
    const namespace = openNamespace(key);
    forbidden.push({ cookie: namespace.cookie, what: "the bridge's" });
    namespace.close();
    await expect(borrow(id)).rejects.toMatchObject(unusable(/^the namespace of the container \w+ is the bridge's$/));
  });
});

describe("a container's namespace", () => {
  let container: Container;

  async function inspect(): Promise<Container> {
    return sandboxes.docker.inspect(await engine.container('mine', '--network', 'none'));
  }

  function cookieOf(found: Container): bigint {
    const namespace = openContainerNamespace(found);
    const { cookie } = namespace;
    namespace.close();
    return cookie;
  }

  it('is the same by whichever way it is opened', async () => {
    container = await inspect();
    expect(cookieOf({ ...container, sandboxKey: '' })).toBe(cookieOf({ ...container, pid: 0 }));
  });

  it('is not taken from a process that is not of the container', async () => {
    container = await inspect();
    expect(() => openContainerNamespace({ ...container, sandboxKey: '', pid: process.pid })).toThrow(
      expect.objectContaining(unusable(/cannot be opened/)),
    );
  });

  it('is not taken from a path that leads to no namespace', async () => {
    container = await inspect();
    expect(cookieOf({ ...container, sandboxKey: '/etc/hostname' })).toBe(cookieOf(container));
  });
});
