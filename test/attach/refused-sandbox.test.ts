import { symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../lab/command.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { footprintOf } from './footprint.js';
import { Inside } from './inside.js';

let engine: DockerEngine;
let lab: Lab;
let service: ServiceProcess;
let eni: Eni;
let absent: Eni;

beforeAll(async () => {
  engine = await DockerEngine.start();
  lab = await Lab.create({ name: 'refused sandbox' });
  service = await lab.startService({ env: await engine.serviceEnvironment() });
  eni = await lab.createEni();
  absent = await lab.createEni({ attach: false, inMetadata: false });
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
  await engine?.stop();
});

/** Refused alike for an ENI that is there and, without waiting for it, for one that is not. */
async function expectRefused(sandbox: object): Promise<void> {
  for (const { mac } of [eni, absent]) {
    const answer = await service.post('web', { eni: { macAddress: mac }, sandbox });
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 422, body: { code: 'unusable-sandbox' } });
  }
  expect((await new Inside(lab.host.path).link(eni.hostName)).address).toBe(eni.mac);
}

const pin = (name: string) => `/run/netns/${lab.id}-${name}`;

describe('a namespace that no task may have is refused:', () => {
  it("the host's, by its name", () => expectRefused({ netns: lab.host.path }));
  it("the service's own, by path and by pid", async () => {
    await expectRefused({ netns: `/proc/${service.pid}/ns/net` });
    await expectRefused({ pid: service.pid });
  });
  it('that of process 1, by path and by pid', async () => {
    await expectRefused({ netns: '/proc/1/ns/net' });
    await expectRefused({ pid: 1 });
  });
  it("the bridge's", () => expectRefused({ netns: `/run/netns/${lab.id}` }));
});

describe('what is no network namespace is refused:', () => {
  it('a named pipe, which would block whoever opens it', async () => {
    await run('mkfifo', [pin('fifo')]);
    await expectRefused({ netns: pin('fifo') });
  });
  it('a plain file', async () => {
    await writeFile(pin('file'), '');
    await expectRefused({ netns: pin('file') });
  });
  it('a mount namespace', async () => {
    const holder = lab.host.start('unshare', ['--mount', 'sleep', '600'], { stdio: 'ignore' });
    await writeFile(pin('mount'), '');
    // On a mount of its own that is private: the kernel lets no mount namespace propagate, and /run/netns is shared.
    await run('mount', ['--bind', pin('mount'), pin('mount')]);
    await run('mount', ['--make-private', pin('mount')]);
    const bound = () =>
      run('mount', ['--bind', `/proc/${holder.pid}/ns/mnt`, pin('mount')]).then(() => 'bound', String);
    await expect.poll(bound, { timeout: 10_000 }).toBe('bound');
    await expectRefused({ netns: pin('mount') });
    await run('umount', [pin('mount')]);
    await run('umount', [pin('mount')]);
    holder.kill('SIGKILL');
  });
  it('a symbolic link, wherever it leads', async () => {
    const usable = await lab.createNamespace();
    await symlink(usable.path, pin('link'));
    await expectRefused({ netns: pin('link') });
  });
  it('nothing at all', () => expectRefused({ netns: pin('nothing') }));
  it('a process that does not exist', () => expectRefused({ pid: 4_194_303 }));
});

describe('a container is refused', () => {
  it('that does not exist', () => expectRefused({ containerId: 'f'.repeat(64) }));
  it('that does not run', async () => {
    const image = await engine.importImage('app');
    const id = await engine.docker('create', '--network', 'none', '--name', `${lab.id}-created`, image, 'true');
    try {
      await expectRefused({ containerId: id });
    } finally {
      await engine.docker('rm', '--force', id);
    }
  });
});

it('leaves nothing of all that', async () => {
  const { allocated, bridgePorts } = await footprintOf(lab, service);
  expect([allocated, bridgePorts]).toEqual([0, []]);
});
