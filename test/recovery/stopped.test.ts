import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Host } from '../lab/answers.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

const count = 12;

let lab: Lab;
let service: ServiceProcess;

beforeEach(async () => {
  lab = await Lab.create({ name: 'stopped', ipv6: false });
  service = await lab.startService();
});
afterEach(async () => {
  await service?.kill();
  await lab?.destroy();
});

it('a stop in the midst of a look begins nothing more, and the next start goes on', async () => {
  const names = Array.from({ length: count }, (_, n) => `task${n}`);
  const spaces = await Promise.all(names.map(() => lab.createNamespace()));
  const enis = await Promise.all(names.map(() => lab.createEni()));
  const posted = await Promise.all(
    names.map((name, n) =>
      service.post(name, {
        eni: { macAddress: enis[n]?.mac },
        sandbox: { netns: spaces[n]?.path },
        dhcp: false,
      }),
    ),
  );
  expect(posted.map(({ status }) => status)).toEqual(names.map(() => 201));
  await lab.host.ipBatch(spaces.map(({ name }) => `netns delete ${name}`));
  const states = async () => Promise.all(names.map(async (name) => (await service.get(name)).body.state));
  await expect.poll(states, { timeout: 15_000, interval: 5 }).toContain('LOST');
  expect(await service.stop()).toBe(0);
  const lines = service.logs();
  const since = lines.slice(lines.findIndex(({ msg }) => msg === 'stopping'));
  expect(since.filter(({ level = 60 }) => level >= 50)).toEqual([]);
  expect(since.at(-1)?.msg).toBe('stopped');
  service = await lab.startService();
  await expect.poll(states, { timeout: 15_000 }).toEqual(names.map(() => 'LOST'));
  expect((await service.api<Host>('GET', '/host')).body.linkLocal.allocated).toBe(0);
});
