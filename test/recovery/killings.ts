/** Tests that end the service with SIGKILL at one moment after the other of attach and detach, and start it again. */
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { everythingOf } from './everything.js';

const steps = [
  'reserve-address',
  'prepare-sandbox',
  'clear-host-config',
  'connect-bridge',
  'move-eni',
  'configure-eni',
  'start-dhcp',
];

export const beforeAndAfter = (...what: string[]) => what.flatMap((each) => [`${each} before`, `${each} after`]);

/** As kill-at.mjs names them. */
export const moments = {
  attaching: beforeAndAfter(...steps.map((step) => `${step} done`)),
  detaching: beforeAndAfter(...steps.map((step) => `${step} undone`)),
};

interface Killings {
  readonly attaching: readonly string[];
  readonly detaching: readonly string[];
  /** Where the service makes its sandboxes; namespaces without Docker unless given. */
  readonly engine?: () => Promise<DockerEngine>;
}

export function killings({ attaching, detaching, engine: startEngine }: Killings): void {
  let engine: DockerEngine | undefined;
  let lab: Lab;
  let eni: Eni;
  let service: ServiceProcess;
  let before: Record<string, unknown>;
  const killFile = () => `${lab.directory}/kill-at`;

  beforeAll(async () => {
    engine = await startEngine?.();
    lab = await Lab.create({ name: 'killed', ipv6: false });
    eni = await lab.createEni();
    service = await start();
    before = await everything();
  });
  afterAll(async () => {
    await service?.kill();
    await lab?.destroy();
    await engine?.stop();
  });
  // So that what one test leaves behind does not fail the next.
  beforeEach(async () => {
    rmSync(killFile(), { force: true });
    if (service.hasEnded) service = await start();
    await service.del('web', { force: true });
  });

  async function start(): Promise<ServiceProcess> {
    const nodeArgs = ['--import', fileURLToPath(new URL('kill-at.mjs', import.meta.url))];
    const env = { KILL_FILE: killFile(), KILL_DIST: fileURLToPath(new URL('../../dist', import.meta.url)) };
    return lab.startService({ nodeArgs, env: { ...env, ...(await engine?.serviceEnvironment()) } });
  }

  async function everything(): Promise<Record<string, unknown>> {
    const marked = ['ps', '--all', '--quiet', '--filter', `label=task-eni.instance=${lab.id}`];
    return { ...(await everythingOf(lab, service)), containers: await engine?.docker(...marked) };
  }

  async function killAt(moment: string, work: () => Promise<unknown>): Promise<void> {
    writeFileSync(killFile(), moment);
    await expect(work()).rejects.toThrow();
    expect(await service.exited).toMatchObject({ signal: 'SIGKILL' });
    service = await start();
  }

  const post = () => service.post('web', { eni: { macAddress: eni.mac } });
  const stateNow = async () => {
    const { status, body } = await service.get('web');
    return status === 404 ? 'absent' : body.state;
  };

  it.each(attaching)('an attach killed at %s is undone by the next start', async (moment) => {
    await killAt(moment, post);
    await expect.poll(stateNow, { timeout: 15_000 }).toMatch(/^(FAILED|absent)$/);
    const { tasks: _, ...now } = await everything();
    const { tasks: __, ...then } = before;
    expect(now).toEqual(then);
    expect([200, 204]).toContain((await service.del('web')).status);
    expect(await everything()).toEqual(before);
  });

  it.each(detaching)('a detach killed at %s is finished by the next start', async (moment) => {
    expect((await post()).status).toBe(201);
    await killAt(moment, () => service.del('web'));
    await expect.poll(stateNow, { timeout: 15_000 }).toBe('absent');
    expect(await everything()).toEqual(before);
  });
}
