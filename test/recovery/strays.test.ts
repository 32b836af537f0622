import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Host } from '../lab/answers.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;
let eni: Eni;
let bridge: Inside;

beforeAll(async () => {
  lab = await Lab.create({ name: 'strays', ipv6: false });
  service = await lab.startService();
  bridge = new Inside(`/run/netns/${lab.id}`);
  eni = await lab.createEni();
  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  expect(status, JSON.stringify(body)).toBe(201);
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

const orphans = async () => (await service.api<Host>('GET', '/host')).body.orphans;
const stray = (digit: string) => `${lab.id}-${digit.repeat(20)}`;
const links = async () => (await bridge.links()).map(({ ifname }) => ifname);

async function expectWebWhole(): Promise<void> {
  const { body } = await service.api('GET', '/tasks/web/network?verify=true');
  expect(body).toMatchObject({ state: 'READY', drift: [] });
}

it('a half-made port and an empty namespace that show while the service runs are removed', async () => {
  const name = stray('1');
  await lab.host.run('ip', 'netns', 'add', name);
  await bridge.run(
    ...(`ip link add ve${'2'.repeat(10)} master ecs-eni type veth peer name far netns ${name}`.split(' ') as [string]),
  );
  await expect.poll(() => existsSync(`/run/netns/${name}`), { timeout: 20_000 }).toBe(false);
  await expect.poll(links, { timeout: 20_000 }).not.toContain(`ve${'2'.repeat(10)}`);
  await expectWebWhole();
  expect(await orphans()).toEqual([]);
});

it('what somebody lives in stays, and is removed once nobody does', async () => {
  const name = stray('3');
  await lab.host.run('ip', 'netns', 'add', name);
  const inside = lab.host.start('nsenter', [`--net=/run/netns/${name}`, '--', 'sleep', '600']);
  await expect
    .poll(orphans, { timeout: 20_000 })
    .toEqual([expect.objectContaining({ detail: expect.stringContaining(name) })]);
  expect(existsSync(`/run/netns/${name}`)).toBe(true);
  inside.kill('SIGKILL');
  await expect.poll(orphans, { timeout: 20_000 }).toEqual([]);
  expect(existsSync(`/run/netns/${name}`)).toBe(false);
  await expectWebWhole();
});

it('a port that is up or bears a mark of somebody else is not touched', async () => {
  const up = `ve${'4'.repeat(10)}`;
  const marked = `ve${'5'.repeat(10)}`;
  const before = service.logs().length;
  // Each is what it is before it is a port.
  for (const name of [up, marked]) await bridge.run('ip', 'link', 'add', name, 'type', 'veth');
  await bridge.run('ip', 'link', 'set', up, 'up');
  await bridge.run('ip', 'link', 'set', marked, 'alias', 'theirs');
  for (const name of [up, marked]) await bridge.run('ip', 'link', 'set', name, 'master', 'ecs-eni');
  const third = `ve${'6'.repeat(10)}`;
  await bridge.run('ip', 'link', 'add', third, 'master', 'ecs-eni', 'type', 'veth', 'peer', 'name', 'far6');
  // The look that takes this one has seen the others.
  await expect.poll(links, { timeout: 20_000 }).not.toContain(third);
  expect(await links()).toEqual(expect.arrayContaining([up, marked]));
  expect(
    service
      .logs()
      .slice(before)
      .filter(({ level = 60 }) => level >= 40),
  ).toEqual([]);
});
