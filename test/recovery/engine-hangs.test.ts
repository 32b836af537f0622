import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { HostNamespace } from '../lab/host-namespace.js';
import { EngineWorld } from './engine-world.js';

let world: EngineWorld;
let namespace: HostNamespace;
let before: Record<string, unknown>;

beforeAll(async () => {
  world = await EngineWorld.make('hanging', 'short-patience.mjs');
  namespace = await world.lab.createNamespace();
  before = await world.everything();
});
afterAll(() => world?.destroy());
// So that what one test leaves behind does not fail the next.
afterEach(async () => {
  await signal('SIGCONT');
  await world.service.del('web', { force: true });
});

const within = { timeout: 12_000 };
const signal = async (name: NodeJS.Signals) => process.kill(await world.engine.pid(), name);
const away = { status: 503, body: { code: 'docker-unavailable' } };
const bare = () => world.body({ sandbox: { netns: namespace.path } });

it('an engine that hangs fails an attach in the end, which holds up nobody, and is undone once the engine goes on', async () => {
  await signal('SIGSTOP');
  const attaching = world.service.post('web', world.body());
  await expect.poll(() => world.state()).toBe('ATTACHING');
  const other = await world.lab.createEni();
  const sandbox = { netns: namespace.path };
  const posted = await world.service.post('bare', { eni: { macAddress: other.mac }, dhcp: false, sandbox });
  expect(posted.status, JSON.stringify(posted.body)).toBe(201);
  expect((await world.service.del('bare')).status).toBe(200);
  await other.detach();
  expect((await world.service.api('GET', '/healthz')).status).toBe(200);
  expect(await world.docker()).toBe('down');
  const failed = await attaching;
  expect(failed).toMatchObject({ ...away, body: { ...away.body, step: 'prepare-sandbox' } });
  expect(failed.headers['retry-after']).toBeDefined();
  await signal('SIGCONT');
  await expect.poll(() => world.everything(), within).toEqual(before);
  expect((await world.service.post('web', bare())).status).toBe(201);
});

it('an engine that hangs leaves tasks their networks, and takes one away only by force, in two parts', async () => {
  const { sandbox } = await world.attach();
  await signal('SIGSTOP');
  expect(await world.service.del('web')).toMatchObject(away);
  expect(await world.state()).toBe('READY');
  await new Inside(sandbox.netns).ping('172.31.0.1');
  expect(await world.service.del('web', { force: true })).toMatchObject(away);
  expect((await new Inside(world.lab.host.path).link(world.eni.hostName)).address).toBe(world.eni.mac);
  await signal('SIGCONT');
  await expect.poll(() => world.state(), within).toBe('absent');
  expect(await world.everything()).toEqual(before);
});

it('a service that starts and stops while its engine hangs serves the tasks that run', async () => {
  const { sandbox } = await world.attach();
  await signal('SIGSTOP');
  expect(await world.service.stop()).toBe(0);
  await world.startService(false);
  await expect.poll(() => world.state().catch(() => 'no answer'), { timeout: 30_000 }).toBe('READY');
  await new Inside(sandbox.netns).ping('172.31.0.1');
  expect(await world.service.stop()).toBe(0);
  await signal('SIGCONT');
  await world.startService();
  expect((await world.service.del('web')).status).toBe(200);
  expect(await world.everything()).toEqual(before);
});

it('a container that the engine made when nobody waited any more is removed, whether its task is on record or not', async () => {
  const image = await world.engine.importImage('pause');
  const late = async (name: string, task: string) => {
    const labels = ['--label', `task-eni.instance=${world.lab.id}`, '--label', `task-eni.task=${task}`];
    await world.engine.docker('create', '--name', name, '--network', 'none', ...labels, image);
  };
  const { containerId } = (await world.attach()).sandbox;
  const name = (await world.engine.docker('inspect', '--format', '{{.Name}}', containerId ?? '')).slice(1);
  await world.engine.docker('rm', '--force', containerId ?? '');
  await expect.poll(() => world.state(), within).toBe('LOST');
  await world.renewEni();
  await late(name, 'web');
  await late(`${world.lab.id}-${'0'.repeat(20)}`, 'nobody');
  // What the engine did while it was away is looked for when it is there again.
  const losses = () => world.service.logs().filter(({ msg }) => msg === 'the Docker event stream is lost').length;
  const known = losses();
  await signal('SIGSTOP');
  await expect.poll(losses, within).toBeGreaterThan(known);
  await signal('SIGCONT');
  await expect.poll(() => world.pauses(), within).toBe('');
  expect(await world.state()).toBe('LOST');
});
