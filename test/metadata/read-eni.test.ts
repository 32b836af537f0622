import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseMac } from '../../src/addresses/mac.js';
import { EniIds } from '../../src/metadata/eni-ids.js';
import { InstanceMetadata } from '../../src/metadata/instance-metadata.js';
import { type EniWithMac, readEni } from '../../src/metadata/read-eni.js';
import { MetadataServer } from './metadata-server.js';

let server: MetadataServer;
let metadata: InstanceMetadata;
let ids: EniIds;

beforeEach(async () => {
  server = await MetadataServer.start();
  metadata = new InstanceMetadata({ endpoint: server.endpoint, timeoutMilliseconds: 200 });
  ids = new EniIds(metadata);
});

afterEach(async () => {
  metadata.close();
  await server.stop();
});

function macOf(number: number) {
  return parseMac(`02:00:00:00:00:${number.toString(16).padStart(2, '0')}`)!;
}

function publish(number: number): void {
  const mac = macOf(number);
  const listing = server.keys.get('network/interfaces/macs/') ?? '';
  server.keys.set('network/interfaces/macs/', `${listing}${mac}/\n`);
  for (const [key, value] of Object.entries({
    'interface-id': `eni-${number}`,
    'local-ipv4s': `172.31.0.${number}`,
    'subnet-ipv4-cidr-block': '172.31.0.0/20',
  }))
    server.keys.set(`network/interfaces/macs/${mac}/${key}`, value);
}

function read(number: number, seconds = 5) {
  const mac = macOf(number);
  const request: EniWithMac = {
    id: null,
    mac,
    ipv4: null,
    ipv4Gateway: null,
    ipv6: null,
    ipv6Gateway: null,
    mtu: null,
  };
  return readEni(request, { metadata, ids, settleSeconds: 1 }, { deadline: performance.now() + seconds * 1000 });
}

describe('fifty attaches at once', () => {
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1);

  it('share one token and cost at most eight reads each', async () => {
    for (const number of numbers) publish(number);
    const readings = await Promise.all(numbers.map((number) => read(number)));
    expect(readings.map((reading) => reading.ipv4?.address)).toEqual(numbers.map((number) => `172.31.0.${number}`));
    expect(server.count('PUT')).toBe(1);
    expect(server.count('GET')).toBeLessThanOrEqual(8 * 50);
  });

  it('by id cost one look for all, and one read more for each MAC', async () => {
    for (const number of numbers) publish(number);
    const wait = { deadline: performance.now() + 5000 };
    const macs = await Promise.all(numbers.map((number) => ids.resolveMac(`eni-${number}`, wait)));
    expect(macs).toEqual(numbers.map(macOf));
    expect(server.count('PUT')).toBe(1);
    expect(server.count('GET')).toBe(51);
  });
});

describe('an attach that meets metadata in trouble', () => {
  it('ends at its deadline when the server accepts and never answers', async () => {
    server.mode = 'hang';
    const start = performance.now();
    await expect(read(1, 1)).rejects.toMatchObject({ code: 'metadata-timeout' });
    const seconds = (performance.now() - start) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(0.99);
    expect(seconds).toBeLessThan(3);
  });

  it('goes on when the server does again', async () => {
    publish(1);
    server.mode = 'fail';
    setTimeout(() => {
      server.mode = 'answer';
    }, 300);
    expect(await read(1)).toMatchObject({ id: 'eni-1', ipv4: { address: '172.31.0.1', prefix: 20 } });
  });

  it('finds the ENI though the MACs of others are stale', async () => {
    server.keys.set('network/interfaces/macs/', `${macOf(8)}/\n${macOf(9)}/\n`);
    publish(1);
    expect(await ids.resolveMac('eni-1', { deadline: performance.now() + 5000 })).toBe(macOf(1));
    expect(await read(1)).toMatchObject({ id: 'eni-1' });
    expect(server.requests.filter((line) => line.includes(macOf(8)))).toHaveLength(1);
  });

  it('is refused soon, with the reason, when tokens never do', async () => {
    server.mode = 'refuse';
    await expect(read(1)).rejects.toMatchObject({
      code: 'metadata-timeout',
      detail: expect.stringContaining('refuses tokens'),
    });
  });
});
