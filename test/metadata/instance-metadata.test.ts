import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InstanceMetadata } from '../../src/metadata/instance-metadata.js';
import { MetadataServer } from './metadata-server.js';

let server: MetadataServer;
let now = 0;
const clients: InstanceMetadata[] = [];

function client(timeoutMilliseconds = 1000, endpoint = server.endpoint): InstanceMetadata {
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const made = new InstanceMetadata({ endpoint, timeoutMilliseconds, clock });
  clients.push(made);
  return made;
}

beforeEach(async () => {
  server = await MetadataServer.start();
  server.keys.set('instance-id', 'i-0abc');
  now = 0;
});

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  vi.unstubAllEnvs();
  await server.stop();
});

describe('a read of instance metadata', () => {
  it('works where version 1 is refused', async () => {
    expect(await client().get('instance-id')).toBe('i-0abc');
    expect(server.requests).toEqual(['PUT /latest/api/token', 'GET /latest/meta-data/instance-id']);
  });

  it('is undefined for a key that is absent, and for one that is empty', async () => {
    server.keys.set('empty', '\n');
    const metadata = client();
    expect(await metadata.get('absent')).toBeUndefined();
    expect(await metadata.get('empty')).toBeUndefined();
  });

  it('names the path and the status of what is no answer', async () => {
    server.mode = 'fail';
    await expect(client().get('instance-id')).rejects.toMatchObject({
      status: 500,
      message: expect.stringMatching(/500 for instance-id/),
    });
  });

  it('survives that the server closed the idle connection', async () => {
    server.dropReused = true;
    const metadata = client();
    for (let round = 0; round < 3; round += 1) expect(await metadata.get('instance-id')).toBe('i-0abc');
    expect(server.count('GET')).toBeGreaterThan(3);
  });

  it('never goes to a proxy', async () => {
    const proxied: string[] = [];
    const proxy = createServer((request, response) => {
      proxied.push(String(request.url));
      response.end('from the proxy');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, address);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    expect(await client().get('instance-id')).toBe('i-0abc');
    proxy.close();
    expect(proxied).toEqual([]);
  });
});

describe('the token', () => {
  it('is asked for once by however many callers', async () => {
    const metadata = client();
    await Promise.all(Array.from({ length: 50 }, () => metadata.get('instance-id')));
    expect(server.count('PUT')).toBe(1);
    expect(server.count('GET')).toBe(50);
  });

  it('is renewed before it ends', async () => {
    server.tokenLife = 100;
    const metadata = client();
    await metadata.get('instance-id');
    now = 89_000;
    await metadata.get('instance-id');
    expect(server.count('PUT')).toBe(1);
    now = 91_000;
    await metadata.get('instance-id');
    expect(server.count('PUT')).toBe(2);
  });

  it('that the server has forgotten is replaced once for all, and their reads succeed', async () => {
    const metadata = client();
    await metadata.get('instance-id');
    server.forgetTokens();
    const values = await Promise.all(Array.from({ length: 20 }, () => metadata.get('instance-id')));
    expect(new Set(values)).toEqual(new Set(['i-0abc']));
    expect(server.count('PUT')).toBe(2);
  });

  it('that is refused every time ends in a clear error after three tries', async () => {
    server.mode = 'refuse';
    await expect(client().get('instance-id')).rejects.toMatchObject({
      status: 401,
      refused: true,
      message: expect.stringContaining('refuses tokens that it has just given'),
    });
    expect(server.count('GET')).toBe(3);
    expect(server.count('PUT')).toBe(3);
  });

  it('that is not given ends in an error, not in a read without it', async () => {
    server.mode = 'no-token';
    await expect(client().get('instance-id')).rejects.toMatchObject({ status: 403, refused: true });
    expect(server.count('GET')).toBe(0);
  });

  it('is not a page of a portal, and is asked for again', async () => {
    server.mode = 'portal';
    const metadata = client();
    await expect(metadata.get('instance-id')).rejects.toThrow('no token');
    server.mode = 'answer';
    expect(await metadata.get('instance-id')).toBe('i-0abc');
  });

  it('is asked for again after it could not be had', async () => {
    server.mode = 'no-token';
    const metadata = client();
    await expect(metadata.get('instance-id')).rejects.toThrow('no token');
    server.mode = 'answer';
    expect(await metadata.get('instance-id')).toBe('i-0abc');
  });
});

describe('a server that does not answer', () => {
  it('costs the time of one request', async () => {
    server.mode = 'hang';
    await expect(client(50).get('instance-id')).rejects.toMatchObject({
      status: null,
      message: expect.stringContaining('no answer within 50 ms'),
    });
  });

  it('is not waited for by a caller who has given up', async () => {
    server.mode = 'hang';
    const start = performance.now();
    await expect(client(20_000).get('instance-id', AbortSignal.timeout(50))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it('at all is named as such', async () => {
    const { endpoint } = server;
    await server.stop();
    await expect(client(1000, endpoint).get('instance-id')).rejects.toMatchObject({
      status: null,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    server = await MetadataServer.start();
  });
});
