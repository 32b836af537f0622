import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Host } from '../lab/answers.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;

beforeEach(async () => {
  lab = await Lab.create({ name: 'stopped' });
  service = await lab.startService();
});
afterEach(async () => {
  await service?.kill();
  await lab?.destroy();
});

it('a stop lets what is under way end and begins nothing more; the next start goes on', async () => {
  const own = await lab.createNamespace();
  const first = await lab.createEni();
  const web = { eni: { macAddress: first.mac }, sandbox: { netns: own.path }, dhcp: false };
  expect((await service.post('web', web)).status).toBe(201);
  // No router advertises itself: this one is under way for three seconds, as long as from one look to the next.
  const second = await lab.createEni({ ipv6Only: true });
  const posted = service.post('slow', { eni: { macAddress: second.mac }, dhcp: false });
  const configuring = async () =>
    (await service.get('slow')).body.steps?.find(({ name }) => name === 'configure-eni')?.state;
  await expect.poll(configuring, { timeout: 10_000 }).toBe('running');
  const stopped = service.stop();
  await lab.host.run('ip', 'netns', 'delete', own.name);
  expect(await stopped).toBe(0);
  expect([201, 503]).toContain((await posted).status);
  const lines = service.logs();
  const since = lines.slice(lines.findIndex(({ msg }) => msg === 'stopping'));
  expect(since.filter(({ msg, level = 60 }) => level >= 50 || msg.startsWith('the sandbox is gone'))).toEqual([]);
  expect(since.at(-1)?.msg).toBe('stopped');
  service = await lab.startService();
  await expect.poll(async () => (await service.get('web')).body.state, { timeout: 15_000 }).toBe('LOST');
  expect((await service.api<Host>('GET', '/host')).body.orphans).toEqual([]);
});
