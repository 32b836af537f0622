import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { readSysctl, writeSysctl } from '../../src/kernel/sysctl.js';
import { Containers } from '../../src/sandboxes/containers.js';
import { DockerConnection } from '../../src/sandboxes/docker-connection.js';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import { parseDockerHost } from '../../src/sandboxes/docker-host.js';
import type { PauseRequest } from '../../src/sandboxes/pause-container.js';
import type { Sandbox } from '../../src/sandboxes/sandbox.js';
import { TestEngine } from './engine.js';

const task = 'web-1' as TaskId;
const dns = { servers: ['172.31.0.2'], search: ['ec2.internal'], hostname: 'ip-172-31-13-14' };
const hosts = ['ip-172-31-13-14:172.31.13.14', 'ip-172-31-13-14:2001:db8::5'];

let engine: TestEngine;
let sandboxes: DockerSandboxes;
const opened: Sandbox[] = [];

async function create(change: Partial<PauseRequest> = {}): Promise<Sandbox> {
  const request = {
    name: `${engine.instance}-a`,
    taskId: task,
    image: engine.pauseImage,
    dns: null,
    hosts: [],
    ...change,
  };
  const sandbox = await sandboxes.create(request);
  opened.push(sandbox);
  return sandbox;
}

beforeAll(async () => {
  engine = await TestEngine.start();
  sandboxes = new DockerSandboxes(engine, pino({ level: 'silent' }));
});
afterEach(async () => {
  for (const { namespace } of opened.splice(0)) namespace.close();
  await engine.clean();
});
afterAll(() => engine.stop());

describe('a pause container', () => {
  it('is running, and its namespace is open by a path that Docker keeps', async () => {
    const { record, namespace } = await create();
    expect(record).toEqual({
      kind: 'docker',
      owned: true,
      containerId: await engine.inspect(`${engine.instance}-a`, '.Id'),
      pid: await engine.inspect(`${engine.instance}-a`, '.State.Pid'),
      netns: await engine.inspect(`${engine.instance}-a`, '.NetworkSettings.SandboxKey'),
      cookie: String(namespace.cookie),
    });
    expect(namespace.visit(() => readFileSync('/proc/thread-self/net/dev', 'utf8')).match(/\w+(?=:)/g)).toEqual(['lo']);
  });

  it('has no capability, cannot gain any, writes nowhere and is not started again', async () => {
    const { record } = await create();
    const status = readFileSync(`/proc/${record.pid}/status`, 'utf8');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toContain(`${set}:\t${'0'.repeat(16)}`);
    expect(status).toContain('NoNewPrivs:\t1');
    const root = readFileSync(`/proc/${record.pid}/mountinfo`, 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[4] === '/');
    expect(root?.split(' ')[5]).toMatch(/^ro\b/);
    expect(await engine.inspect(record.containerId!, '.HostConfig.RestartPolicy.Name')).toBe('no');
  });

  it('forwards nothing, and takes IPv6 once that is turned on in its namespace', async () => {
    const { namespace } = await create();
    expect(readSysctl(namespace, 'net/ipv4/ip_forward')).toBe('0');
    // Docker turns IPv6 off where it gives no IPv6 network; whoever adds an address turns it on first.
    expect(readSysctl(namespace, 'net/ipv6/conf/all/disable_ipv6')).toBe('1');
    writeSysctl(namespace, 'net/ipv6/conf/all/disable_ipv6', 0);
    expect(readSysctl(namespace, 'net/ipv6/conf/lo/disable_ipv6')).toBe('0');
  });

  it('resolves names as asked, for itself and for the containers that join it', async () => {
    const { record } = await create({ dns, hosts });
    await engine.container('joined', '--network', `container:${record.containerId}`);
    for (const name of ['a', 'joined']) {
      const pid = await engine.inspect<number>(`${engine.instance}-${name}`, '.State.Pid');
      const file = (path: string) => readFileSync(`/proc/${pid}/root/etc/${path}`, 'utf8');
      expect(file('resolv.conf')).toMatch(/^search ec2\.internal$/m);
      expect(file('resolv.conf')).toMatch(/^nameserver 172\.31\.0\.2$/m);
      expect(file('hosts')).toMatch(/^172\.31\.13\.14\s+ip-172-31-13-14$/m);
      expect(file('hosts')).toMatch(/^2001:db8::5\s+ip-172-31-13-14$/m);
      expect(file('hostname')).toBe('ip-172-31-13-14\n');
    }
  });
});

describe('making a pause container again', () => {
  it('finds the one that is there', async () => {
    const first = await create({ dns, hosts });
    const second = await create({ dns, hosts });
    expect(second.record).toEqual(first.record);
  });

  it('replaces one of ours that is dead', async () => {
    const first = await create();
    await engine.docker('kill', first.record.containerId!);
    const second = await create();
    expect(second.record.containerId).not.toBe(first.record.containerId);
    expect(await engine.inspect(second.record.containerId!, '.State.Running')).toBe(true);
  });

  it('replaces one of ours that was made but never started', async () => {
    const labels = ['--label', `task-eni.instance=${engine.instance}`, '--label', `task-eni.task=${task}`];
    const made = await engine.docker('create', '--name', `${engine.instance}-a`, ...labels, engine.pauseImage);
    const { record } = await create();
    expect(record.containerId).not.toBe(made);
  });

  it('makes another when a prune takes it away before it is started', async () => {
    const prune = ['container', 'prune', '--force', '--filter', `label=task-eni.instance=${engine.instance}`];
    const start = vi.spyOn(Containers.prototype, 'start').mockImplementationOnce(async (id, name) => {
      await engine.docker(...prune);
      await new Containers(new DockerConnection(parseDockerHost(engine.dockerHost, {}))).start(id, name);
    });
    const { record } = await create();
    expect(start).toHaveBeenCalledTimes(3);
    expect(await engine.inspect(record.containerId!, '.State.Running')).toBe(true);
  });

  it('replaces one of ours that resolves names otherwise, unless containers use it', async () => {
    const first = await create();
    const second = await create({ dns, hosts });
    expect(second.record.containerId).not.toBe(first.record.containerId);
    await engine.container('joined', '--network', `container:${second.record.containerId}`);
    await expect(create()).rejects.toMatchObject({ code: 'containers-joined' });
    expect(await engine.inspect(second.record.containerId!, '.State.Running')).toBe(true);
  });

  it("leaves a stranger's container of that name alone", async () => {
    const stranger = await engine.container('a');
    await expect(create()).rejects.toMatchObject({ code: 'unusable-sandbox' });
    expect(await engine.inspect(stranger, '.State.Running')).toBe(true);
  });

  it('says so when the image is not that of a pause', async () => {
    const image = await engine.imageOf('brief', '/bin/true');
    await expect(create({ image })).rejects.toMatchObject({
      code: 'step-failed',
      detail: expect.stringMatching(/ended at once: is \S+ a pause image\?/),
    });
  });

  it('passes on what Docker says when the image cannot be started', async () => {
    const image = await engine.imageOf('broken', '/missing');
    await expect(create({ image })).rejects.toMatchObject({
      code: 'step-failed',
      detail: expect.stringMatching(/^Docker would not start the container .*\/missing/),
    });
  });
});
