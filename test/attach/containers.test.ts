import { afterAll, beforeAll, expect, it } from 'vitest';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let engine: DockerEngine;
let lab: Lab;
let service: ServiceProcess;
let app: string;

beforeAll(async () => {
  engine = await DockerEngine.start();
  lab = await Lab.create({ name: 'containers' });
  service = await lab.startService({ env: await engine.serviceEnvironment() });
  app = await engine.importImage('app');
});
afterAll(async () => {
  const left = (await engine.docker('ps', '--all', '--quiet', '--filter', `name=${lab.id}-app`))
    .split('\n')
    .filter(Boolean);
  if (left.length > 0) await engine.docker('rm', '--force', ...left);
  await service?.stop();
  await lab?.destroy();
  await engine?.stop();
});

const bodyOf = (eni: Eni, rest: object = {}) => ({ eni: { macAddress: eni.mac }, dhcp: false, ...rest });
const start = (name: string, network: string) =>
  engine.docker('run', '--detach', '--name', `${lab.id}-app-${name}`, '--network', network, app, 'sleep', '600');
const isRunning = (id: string) => engine.docker('inspect', '--format', '{{.State.Running}}', id);

it('that joined the pause container see the ENI, and keep it from being taken away unless forced', async () => {
  const eni = await lab.createEni();
  const { status, body } = await service.post('web', bodyOf(eni));
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.networkMode).toBe(`container:${body.sandbox.containerId}`);
  const id = await start('joined', body.networkMode);
  expect(await engine.docker('exec', id, 'ip', 'address', 'show', 'dev', 'eth0')).toContain(eni.ipv4Address);

  const refused = await service.del('web');
  expect(refused).toMatchObject({ status: 409, body: { code: 'containers-joined', taskId: 'web' } });
  expect(refused.body.detail).toContain(id.slice(0, 12));
  expect(await engine.docker('exec', id, 'ip', 'address', 'show', 'dev', 'eth0')).toContain(eni.ipv4Address);
  expect((await service.get('web')).body.state).toBe('READY');

  expect((await service.del('web', { force: true })).status).toBe(200);
  expect((await new Inside(lab.host.path).link(eni.hostName)).address).toBe(eni.mac);
  await expect(engine.docker('inspect', body.sandbox.containerId ?? '')).rejects.toThrow(/No such/);
});

it('that the caller made are used as they are, by whatever they are named, and outlive the detach', async () => {
  const id = await start('own', 'none');
  const pid = Number(await engine.docker('inspect', '--format', '{{.State.Pid}}', id));
  for (const sandbox of [
    { containerId: id },
    { containerId: id.slice(0, 12) },
    { pid },
    { netns: `/proc/${pid}/ns/net` },
  ]) {
    const eni = await lab.createEni();
    const { status, body } = await service.post('own', bodyOf(eni, { sandbox }));
    expect(status, JSON.stringify({ sandbox, body })).toBe(201);
    expect(body.sandbox.owned).toBe(false);
    expect(await engine.docker('exec', id, 'ip', 'address', 'show', 'dev', 'eth0')).toContain(eni.ipv6Address);
    for (const other of [{ containerId: id }, { pid }]) {
      const answer = await service.post('rival', bodyOf(await lab.createEni({ attach: false }), { sandbox: other }));
      expect(answer).toMatchObject({ status: 409, body: { code: 'sandbox-in-use' } });
    }
    expect((await service.del('own')).status).toBe(200);
    expect(await isRunning(id)).toBe('true');
    const inside = new Inside(`/proc/${pid}/ns/net`);
    expect((await inside.links()).map(({ ifname }) => ifname)).toEqual(['lo']);
    expect(await inside.routes()).toEqual([]);
  }
});
