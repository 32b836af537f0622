import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Network } from '../lab/answers.js';
import { EngineWorld } from './engine-world.js';

let world: EngineWorld;
let before: Record<string, unknown>;

beforeAll(async () => {
  world = await EngineWorld.make('restarted', 'kill-at.mjs');
  before = await world.everything();
});
afterAll(() => world?.destroy());
// So that what one test leaves behind does not fail the next.
afterEach(async () => {
  if (!(await world.engine.answers())) await world.engine.startAgain();
  await world.service.del('web', { force: true });
});

const state = () => world.state();
/** Ten seconds are the contract's; a read of the state on a busy machine is given two more. */
const within = { timeout: 12_000 };

async function restart(signal: NodeJS.Signals): Promise<void> {
  await world.engine.end(signal);
  expect(await world.docker()).toBe('down');
  await world.engine.startAgain();
  await expect.poll(() => world.docker(), within).toBe('up');
}

describe.each(['SIGKILL', 'SIGTERM'] as const)('an engine that ended by %s and runs again', (signal) => {
  it('leaves tasks their networks when it restores what runs', async () => {
    await world.engine.configure({ 'live-restore': true });
    const { sandbox } = await world.attach();
    await restart(signal);
    await new Inside(sandbox.netns).ping('172.31.0.1');
    const { body } = await world.service.api<Network>('GET', '/tasks/web/network?verify=true');
    expect(body).toMatchObject({ state: 'READY', drift: [] });
    expect((await world.service.del('web')).status).toBe(200);
    expect(await world.everything()).toEqual(before);
  });

  it('makes tasks LOST when it ends what ran, and the next one is attached as if nothing had been', async () => {
    await world.engine.configure({ 'live-restore': false });
    await world.attach();
    await restart(signal);
    await expect.poll(state, within).toBe('LOST');
    await expect.poll(() => world.pauses(), within).toBe('');
    // A pretend ENI dies with its namespace; a real one would be home.
    await world.renewEni();
    await expect.poll(async () => (await world.service.post('web', world.body())).status, within).toBe(201);
    expect((await world.service.del('web')).status).toBe(200);
    expect(await world.everything()).toEqual(before);
  });
});

describe('an engine killed', () => {
  it.each(['container create before', 'container create after', 'container start before', 'container start after'])(
    'at %s of an attach makes that docker-unavailable, and all is undone once it runs again',
    async (moment) => {
      await world.killEngineAt(moment);
      const { status, body, headers } = await world.service.post('web', world.body());
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { code: 'docker-unavailable', step: 'prepare-sandbox' },
      });
      expect(headers['retry-after']).toBeDefined();
      await world.engine.startAgain();
      await expect.poll(() => world.everything(), within).toEqual(before);
      await expect.poll(async () => (await world.service.post('web', world.body())).status, within).toBe(201);
    },
  );

  it('at the removal of a container makes the detach docker-unavailable, and it is finished later', async () => {
    await world.attach();
    await world.killEngineAt('container destroy before');
    const { status, body, headers } = await world.service.del('web');
    expect({ status, body }).toMatchObject({
      status: 503,
      body: { code: 'docker-unavailable', step: 'prepare-sandbox' },
    });
    expect(headers['retry-after']).toBeDefined();
    expect((await new Inside(world.lab.host.path).link(world.eni.hostName)).address).toBe(world.eni.mac);
    await world.engine.startAgain();
    await expect.poll(state, within).toBe('absent');
    expect(await world.everything()).toEqual(before);
  });
});
