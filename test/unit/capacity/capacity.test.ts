import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { parseMac } from '../../../src/addresses/mac.js';
import { Capacity } from '../../../src/capacity/capacity.js';
import type { HostLink } from '../../../src/capacity/slots.js';
import { HandClock, ScriptedMetadata } from '../metadata/scripted-metadata.js';

const macs = ['02:00:00:00:00:00', '02:00:00:00:00:01', '02:00:00:00:00:02'].map((text) => parseMac(text)!);
const listing = 'network/interfaces/macs/';

function setUp() {
  const clock = new HandClock();
  const host = { links: [{ mac: macs[0] }] as HostLink[], tasks: macs.slice(1) };
  const metadata = new ScriptedMetadata(clock, { [listing]: macs.map((mac) => `${mac}/`).join('\n') });
  const logger = pino({ level: 'silent' });
  const capacity = new Capacity({
    limit: { current: () => ({ limit: 3, source: 'table', cause: null }) },
    metadata,
    links: async () => host.links,
    tasks: () => host.tasks,
    logger,
    now: () => clock.now(),
  });
  return { capacity, clock, host, metadata, warn: vi.spyOn(logger, 'warn') };
}

describe('the slots of an m5.large', () => {
  it('are full with the primary ENI and two in tasks', async () => {
    const { capacity } = setUp();
    expect(await capacity.read()).toEqual({
      limit: 3,
      limitSource: 'table',
      limitCause: null,
      attached: 3,
      tasks: 2,
      available: 0,
    });
  });

  it('are counted anew after two seconds, and once for all who ask meanwhile', async () => {
    const { capacity, clock, host, metadata } = setUp();
    await Promise.all([capacity.read(), capacity.read()]);
    expect(metadata.reads).toEqual([listing]);
    host.tasks.pop();
    await clock.sleep(1999);
    expect(await capacity.read()).toMatchObject({ attached: 3 });
    await clock.sleep(1);
    expect(await capacity.read()).toMatchObject({ attached: 2, available: 1 });
  });

  it('are free again when an ENI is gone that metadata still lists', async () => {
    const { capacity, host, metadata } = setUp();
    host.tasks.pop();
    expect(await capacity.read()).toMatchObject({ attached: 2 });
    expect(metadata.reads).toEqual([listing, `${listing}${macs[2]}/interface-id`]);
  });

  it('are taken by an ENI that somebody else has moved away', async () => {
    const { capacity, host, metadata } = setUp();
    host.tasks.pop();
    metadata.table[`${listing}${macs[2]}/interface-id`] = 'eni-2';
    expect(await capacity.read()).toMatchObject({ attached: 3 });
  });

  it('are counted by the kernel alone while metadata is silent, which is said once', async () => {
    const { capacity, clock, metadata, warn } = setUp();
    metadata.table[listing] = new Error('instance metadata does not answer');
    for (let round = 0; round < 3; round += 1) {
      expect(await capacity.read()).toMatchObject({ attached: 3 });
      await clock.sleep(2000);
    }
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
