import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NetworkOrProblem } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

interface Side {
  readonly lab: Lab;
  service: ServiceProcess;
  readonly enis: readonly Eni[];
  networks: NetworkOrProblem[];
}

let engine: DockerEngine;
let env: Record<string, string>;
const sides: Side[] = [];
const ids = ['web', 'db'];

beforeAll(async () => {
  engine = await DockerEngine.start();
  env = await engine.serviceEnvironment();
  for (const name of ['one', 'two']) {
    const lab = await Lab.create({ name });
    const service = await lab.startService({ env });
    sides.push({ lab, service, enis: [await lab.createEni(), await lab.createEni()], networks: [] });
  }
});
afterAll(async () => {
  for (const { service, lab } of sides) {
    await service.stop();
    await lab.destroy();
  }
  await engine?.stop();
});

async function attach(side: Side): Promise<void> {
  const answers = await Promise.all(
    side.enis.map(({ mac }, n) => side.service.post(ids[n] ?? '', { eni: { macAddress: mac }, dhcp: false })),
  );
  for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBe(201);
  side.networks = answers.map(({ body }) => body);
}

async function expectWhole({ networks, enis, service }: Side): Promise<void> {
  for (const [n, network] of networks.entries()) {
    const task = new Inside(network.sandbox.netns);
    expect((await task.link('eth0')).address).toBe(enis[n]?.mac);
    await task.ping('172.31.0.1');
    const { body } = await service.api('GET', `/tasks/${ids[n]}/network?verify=true`);
    expect(body).toMatchObject({ state: 'READY', drift: [], sandbox: network.sandbox });
  }
}

it('have the same task ids on one engine, each with sandboxes of its own', async () => {
  await Promise.all(sides.map(attach));
  const containers = sides.flatMap(({ networks }) => networks.map(({ sandbox }) => sandbox.containerId));
  expect(new Set(containers).size).toBe(4);
  for (const side of sides) await expectWhole(side);
});

it.each(['SIGTERM', 'SIGKILL'])('stay out of the way when one is ended with %s and started again', async (signal) => {
  const [first, second] = sides as [Side, Side];
  await (signal === 'SIGKILL' ? first.service.kill() : first.service.stop());
  await expectWhole(second);
  first.service = await first.lab.startService({ env });
  for (const side of sides) {
    await expectWhole(side);
    const { body } = await side.service.api<{ orphans: unknown[] }>('GET', '/host');
    expect(body.orphans).toEqual([]);
  }
});

it('detach their own tasks only', async () => {
  const [first, second] = sides as [Side, Side];
  for (const id of ids) expect((await first.service.del(id)).status).toBe(200);
  await expectWhole(second);
  for (const id of ids) expect((await first.service.del(id)).status).toBe(204);
  for (const id of ids) expect((await second.service.del(id)).status).toBe(200);
  const left = await engine.docker('ps', '--all', '--format', '{{.Names}}');
  for (const { lab } of sides) expect(left).not.toContain(lab.id);
});
