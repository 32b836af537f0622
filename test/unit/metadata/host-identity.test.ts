import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { HostIdentity } from '../../../src/metadata/host-identity.js';
import { MetadataError } from '../../../src/metadata/instance-metadata.js';
import { HandClock, ScriptedMetadata } from './scripted-metadata.js';

const whole = {
  'instance-id': 'i-0abc',
  'instance-type': 'm5.large',
  'placement/availability-zone': 'us-west-2a',
  'placement/region': 'us-west-2',
  mac: '02:00:00:00:00:00',
};

function setUp(table: ConstructorParameters<typeof ScriptedMetadata>[1]) {
  const clock = new HandClock();
  const metadata = new ScriptedMetadata(clock, table);
  const logger = pino({ level: 'silent' });
  return { clock, metadata, logger, host: new HostIdentity(metadata, logger, clock) };
}

describe('the identity of the host', () => {
  it('is read once', async () => {
    const { host, metadata } = setUp(whole);
    expect(await host.read()).toEqual({
      instanceId: 'i-0abc',
      instanceType: 'm5.large',
      availabilityZone: 'us-west-2a',
      region: 'us-west-2',
      primaryMac: '02:00:00:00:00:00',
    });
    await host.read();
    expect(metadata.reads).toHaveLength(5);
  });

  it.each([
    ['eu-central-1c', 'eu-central-1'],
    ['us-gov-west-1a', 'us-gov-west-1'],
    ['us-west-2-lax-1a', 'us-west-2'],
  ])('takes the region from the zone %s when metadata has none', async (zone, region) => {
    const { host } = setUp({ 'placement/availability-zone': zone });
    expect(await host.read()).toMatchObject({ region });
  });

  it('is null, with one complaint, while metadata does not answer', async () => {
    const silent = new MetadataError('instance metadata does not answer', null);
    const { host, logger } = setUp(Object.fromEntries(Object.keys(whole).map((key) => [key, silent])));
    const warn = vi.spyOn(logger, 'warn');
    expect(await host.read()).toMatchObject({ instanceId: null, instanceType: null, primaryMac: null });
    await host.read();
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('is not what a portal answers in the place of metadata', async () => {
    const { host } = setUp(Object.fromEntries(Object.keys(whole).map((key) => [key, '<h1>Welcome</h1>'])));
    expect(Object.values(await host.read())).toEqual([null, null, null, null, null]);
  });

  it('is not waited for by who has no time', async () => {
    const silent = { get: () => new Promise<undefined>(() => {}) };
    const host = new HostIdentity(silent, pino({ level: 'silent' }), new HandClock());
    expect(await host.read(AbortSignal.timeout(10))).toMatchObject({ instanceId: null });
  });

  it('is asked for in the background until all is known', async () => {
    const { host, clock } = setUp({ ...whole, 'instance-type': { value: 'm5.large', from: 100 } });
    host.start();
    await vi.waitFor(() => expect(host.known.instanceType).toBe('m5.large'));
    expect(host.known.instanceId).toBe('i-0abc');
    expect(clock.seconds).toBeGreaterThanOrEqual(100);
  });

  it('is no longer asked for after the stop', async () => {
    const { host, metadata } = setUp({});
    host.start();
    host.stop();
    await host.read();
    const reads = metadata.reads.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(metadata.reads).toHaveLength(reads);
  });
});
