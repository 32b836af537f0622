import { describe, expect, it } from 'vitest';
import { type Ipv4, parseIpv4Cidr, parseIpv6Cidr } from '../../../src/addresses/cidr.js';
import { parseMac } from '../../../src/addresses/mac.js';
import { EniIds } from '../../../src/metadata/eni-ids.js';
import { MetadataError } from '../../../src/metadata/instance-metadata.js';
import { type EniWithMac, readEni } from '../../../src/metadata/read-eni.js';
import { HandClock, ScriptedMetadata, eniTable } from './scripted-metadata.js';

const mac = parseMac('02:00:00:00:00:01')!;
const ipv4 = parseIpv4Cidr('172.31.13.14/20')!;
const ipv6 = parseIpv6Cidr('2001:db8:1::5/64')!;
const bare: EniWithMac = {
  id: null,
  mac,
  ipv4: null,
  ipv4Gateway: null,
  ipv6: null,
  ipv6Gateway: null,
  mtu: null,
};
const v4Keys = { 'local-ipv4s': '172.31.13.14', 'subnet-ipv4-cidr-block': '172.31.0.0/20' };
const v6Keys = { ipv6s: '2001:db8:1::5', 'subnet-ipv6-cidr-blocks': '2001:db8:1::/64' };

function setUp(keys: Parameters<typeof eniTable>[1], seconds = 180) {
  const clock = new HandClock();
  const metadata = new ScriptedMetadata(clock, eniTable(mac, keys));
  const source = { metadata, ids: new EniIds(metadata), settleSeconds: 10 };
  const read = (request: Partial<EniWithMac> = {}, signal?: AbortSignal) =>
    readEni({ ...bare, ...request }, source, { deadline: seconds * 1000, clock, signal });
  return { clock, metadata, read };
}

describe('an ENI that is complete at first look', () => {
  it('costs five reads', async () => {
    const { read, metadata, clock } = setUp({ 'interface-id': 'eni-1', ...v4Keys, ...v6Keys });
    expect(await read()).toEqual({
      id: 'eni-1',
      mac,
      ipv4,
      ipv4Gateway: null,
      ipv6,
      ipv6Gateway: null,
      warnings: [],
    });
    expect(metadata.reads).toHaveLength(5);
    expect(clock.seconds).toBe(0);
  });

  it('without IPv6 is not waited for', async () => {
    const { read, metadata, clock } = setUp({ 'interface-id': 'eni-1', ...v4Keys });
    expect(await read()).toMatchObject({ ipv4, ipv6: null, warnings: [] });
    expect(metadata.reads).toHaveLength(5);
    expect(clock.seconds).toBe(0);
  });

  it('with IPv6 only has no IPv4 address, and is not waited for', async () => {
    const { read, clock } = setUp({ 'interface-id': 'eni-1', ...v6Keys });
    expect(await read()).toMatchObject({ ipv4: null, ipv6, warnings: [] });
    expect(clock.seconds).toBe(0);
  });
});

describe('what the request says', () => {
  const gateway = '172.31.0.1' as Ipv4;

  it.each([
    ['an address and its gateway', { ipv4, ipv4Gateway: gateway }],
    ['both addresses', { ipv4, ipv6 }],
  ])('costs no read when it is %s', async (_, request) => {
    const { read, metadata } = setUp({});
    expect(await read(request)).toMatchObject({ ...request, id: null, warnings: [] });
    expect(metadata.reads).toEqual([]);
  });

  it('wins over metadata, which is not asked for it', async () => {
    const { read, metadata } = setUp({ 'interface-id': 'eni-1', 'local-ipv4s': '172.31.99.99', ...v6Keys });
    expect(await read({ ipv4 })).toMatchObject({ ipv4, ipv6 });
    expect(metadata.reads.filter((path) => path.includes('ipv4'))).toEqual([]);
  });

  it('may name the gateway alone', async () => {
    const { read } = setUp({ 'interface-id': 'eni-1', ...v4Keys });
    expect(await read({ ipv4Gateway: gateway })).toMatchObject({ ipv4, ipv4Gateway: gateway });
  });

  it('is enough, after the settling time and with a warning, when metadata does not know the ENI', async () => {
    const { read, clock } = setUp({});
    expect(await read({ ipv4 })).toMatchObject({ ipv4, warnings: [expect.stringContaining('did not tell')] });
    expect(clock.seconds).toBeGreaterThanOrEqual(10);
    expect(clock.seconds).toBeLessThan(12);
  });

  it('is refused when metadata has another id for the MAC', async () => {
    const { read } = setUp({ 'interface-id': 'eni-2', ...v4Keys });
    await expect(read({ id: 'eni-1' })).rejects.toMatchObject({ code: 'unusable-eni' });
  });
});

describe('an ENI that metadata learns of bit by bit', () => {
  const late = {
    'interface-id': { value: 'eni-1', from: 8 },
    'local-ipv4s': { value: '172.31.13.14', from: 8 },
    'subnet-ipv4-cidr-block': { value: '172.31.0.0/20', from: 10 },
  };

  it('is there when its last key is', async () => {
    const { read, clock } = setUp({
      ...late,
      'subnet-ipv6-cidr-blocks': { value: '2001:db8:1::/64', from: 10 },
      ipv6s: { value: '2001:db8:1::5', from: 14 },
    });
    expect(await read()).toMatchObject({ ipv4, ipv6, warnings: [] });
    expect(clock.seconds).toBeGreaterThanOrEqual(14);
    expect(clock.seconds).toBeLessThan(15.1);
  });

  it('does not wait for an IPv6 that its subnet does not have', async () => {
    const { read, clock } = setUp(late);
    expect(await read()).toMatchObject({ ipv4, ipv6: null, warnings: [] });
    expect(clock.seconds).toBeLessThan(11.1);
  });

  it('goes without IPv6 ten seconds after IPv4 was complete', async () => {
    const { read, clock } = setUp({ ...late, 'subnet-ipv6-cidr-blocks': '2001:db8:1::/64' });
    expect(await read()).toMatchObject({ ipv4, ipv6: null, warnings: [expect.stringContaining('ipv6s')] });
    expect(clock.seconds).toBeGreaterThanOrEqual(20);
    expect(clock.seconds).toBeLessThan(22.1);
  });

  it('goes without IPv6 at the deadline, when that comes before the settling time', async () => {
    const { read } = setUp({ ...v4Keys, 'subnet-ipv6-cidr-blocks': '2001:db8:1::/64' }, 3);
    expect(await read()).toMatchObject({ ipv4, ipv6: null, warnings: [expect.stringContaining('ipv6s')] });
  });

  it('reads again only what is missing', async () => {
    const { read, metadata } = setUp({ ...late, 'local-ipv4s': '172.31.13.14' });
    await read();
    expect(metadata.reads.filter((path) => path.endsWith('/local-ipv4s'))).toHaveLength(1);
  });

  it('that never comes is a time-out which names the missing keys', async () => {
    const { read, clock } = setUp({ 'local-ipv4s': '172.31.13.14' }, 20);
    await expect(read()).rejects.toMatchObject({
      code: 'metadata-timeout',
      detail: `instance metadata of ${mac} lacks subnet-ipv4-cidr-block`,
    });
    expect(clock.seconds).toBe(20);
  });
});

describe('metadata that fails', () => {
  it('with time-outs is asked until the deadline, and the reason is told', async () => {
    const silent = new MetadataError('instance metadata does not answer: ECONNREFUSED', null);
    const { read, clock } = setUp({ 'local-ipv4s': silent }, 20);
    await expect(read()).rejects.toMatchObject({
      code: 'metadata-timeout',
      detail: expect.stringContaining('ECONNREFUSED'),
      cause: silent,
    });
    expect(clock.seconds).toBe(20);
  });

  it('with a refusal is given up soon', async () => {
    const { read, clock, metadata } = setUp({ 'local-ipv4s': new MetadataError('answers 401', 401) });
    await expect(read()).rejects.toMatchObject({ code: 'metadata-timeout', detail: expect.stringContaining('401') });
    expect(clock.seconds).toBeLessThan(2);
    expect(metadata.reads.filter((path) => path.endsWith('/local-ipv4s'))).toHaveLength(5);
  });

  it('for one family is not taken for its absence', async () => {
    const { read, metadata, clock } = setUp({ 'interface-id': 'eni-1', ...v4Keys });
    const path = `network/interfaces/macs/${mac}/subnet-ipv6-cidr-blocks`;
    metadata.table[path] = new MetadataError('answers 503', 503);
    expect(await read()).toMatchObject({ ipv6: null, warnings: [expect.stringContaining('did not tell')] });
    expect(clock.seconds).toBeGreaterThanOrEqual(10);
  });

  it('with a page of something else is asked until it answers itself', async () => {
    const page = { value: '<html><h1>Welcome to the captive portal</h1></html>', until: 3 };
    const keys = { 'interface-id': 'eni-1', ...v4Keys, ...v6Keys };
    const { read, metadata, clock } = setUp({});
    for (const [key, value] of Object.entries(keys))
      metadata.table[`network/interfaces/macs/${mac}/${key}`] = { ...page, next: value };
    expect(await read()).toMatchObject({ id: 'eni-1', ipv4, ipv6, warnings: [] });
    expect(clock.seconds).toBeGreaterThanOrEqual(3);
    expect(clock.seconds).toBeLessThan(5);
  });

  it('once is asked again', async () => {
    const { read, metadata } = setUp({ 'interface-id': 'eni-1', ...v4Keys });
    const path = `network/interfaces/macs/${mac}/local-ipv4s`;
    metadata.table[path] = new MetadataError('answers 503', 503);
    const reading = read();
    metadata.table[path] = '172.31.13.14';
    expect(await reading).toMatchObject({ ipv4 });
  });

  it('is left alone once the attach is cancelled', async () => {
    const cancel = new AbortController();
    const { read } = setUp({});
    cancel.abort(new Error('cancelled'));
    await expect(read({}, cancel.signal)).rejects.toThrow('cancelled');
  });
});
