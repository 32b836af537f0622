import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Listeners } from '../../src/api/listeners.js';
import { parseTaskId, type TaskId } from '../../src/attachments/task-id.js';
import type { Settings } from '../../src/settings.js';
import { type ApiApp, makeApiApp } from './api-app.js';
import { freePort } from './free-port.js';
import { talk, talkRaw } from './talk.js';

const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ eni: { macAddress: '02:00:00:00:00:01' } });
let folder: string;
let socketPath: string;
let port: number;
let api: ApiApp | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'task-eni-api-'));
  socketPath = join(folder, 'api.sock');
  port = await freePort();
});
afterEach(async () => {
  await api?.app.get(Listeners).stop();
  await api?.app.close();
  api = undefined;
  rmSync(folder, { recursive: true });
});

async function start(settings: Partial<Settings> = {}): Promise<ApiApp> {
  api = await makeApiApp({
    apiSocket: socketPath,
    apiAddress: { host: '127.0.0.1', port },
    apiTokenFile: join(folder, 'token'),
    runDir: folder,
    ...settings,
  });
  await api.app.get(Listeners).start(api.app.getHttpAdapter().getInstance());
  return api;
}
const token = () => readFileSync(join(folder, 'token'), 'utf8').trim();
const bearer = () => ({ authorization: `Bearer ${token()}` });

describe('the TCP listener', () => {
  it('wants the token that it made for owner only', async () => {
    await start();
    expect(statSync(join(folder, 'token')).mode & 0o777).toBe(0o600);
    expect(token().length).toBeGreaterThan(40);
    const refused = await talk({ port, path: '/tasks' });
    expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringMatching(/^Bearer/) } });
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'unauthorized' });
    expect(await talk({ port, path: '/tasks', headers: bearer() })).toMatchObject({ status: 200 });
  });

  it('wants it before it looks at path, method or body', async () => {
    await start();
    for (const path of ['/nothing', '/tasks/web-1/network'])
      expect(await talk({ port, path, method: 'PATCH', headers: json, send: '{' })).toMatchObject({ status: 401 });
  });

  it.each(['/', '/healthz', '/readyz', '/metrics', '/docs', '/docs/swagger-ui.css', '/openapi.json'])(
    'is open at %s',
    async (path) => {
      await start();
      expect(await talk({ port, path })).toMatchObject({ status: 200 });
    },
  );

  it.each([
    ['127.0.0.1', 200],
    ['localhost:8080', 200],
    ['evil.example', 400],
    ['127.0.0.2', 400],
  ])('answers the Host %s with %i', async (host, status) => {
    await start();
    expect(await talk({ port, path: '/tasks', headers: { ...bearer(), host } })).toMatchObject({ status });
  });

  it.each([
    ['a fragment', 'GET /tasks#x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['a whole URL', 'GET http://127.0.0.1/tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['no request', 'nonsense\r\n\r\n'],
    ['an expectation', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nConnection: close\r\n\r\n'],
    ['too large a header', `GET / HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
  ])('answers %s with a problem', async (_what, bytes) => {
    await start();
    const answer = await talkRaw(port, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(answer).toContain('"code":"invalid-request"');
  });

  it('takes a new token when told to read again, and keeps the former one when the new is bad', async () => {
    const { app } = await start();
    writeFileSync(join(folder, 'token'), 'another-token-of-ours\n');
    expect(await talk({ port, path: '/tasks', headers: bearer() })).toMatchObject({ status: 401 });
    app.get(Listeners).reload();
    expect(await talk({ port, path: '/tasks', headers: bearer() })).toMatchObject({ status: 200 });
    const former = bearer();
    writeFileSync(join(folder, 'token'), 'short\n');
    app.get(Listeners).reload();
    expect(await talk({ port, path: '/tasks', headers: former })).toMatchObject({ status: 200 });
    expect(api?.log.join('')).toContain('at least 16');
  });

  it('says which variable is at fault when its port is taken, and leaves nothing behind', async () => {
    await start();
    const other = await makeApiApp({
      apiSocket: join(folder, 'other.sock'),
      apiAddress: { host: '127.0.0.1', port },
      apiTokenFile: join(folder, 'token'),
    });
    const starting = other.app.get(Listeners).start(other.app.getHttpAdapter().getInstance());
    await expect(starting).rejects.toThrow(/^TASK_ENI_API_ADDRESS: .*EADDRINUSE/);
    expect(statSync(join(folder, 'other.sock'), { throwIfNoEntry: false })).toBeUndefined();
  });
});

it('each request is a line of the debug log, without its secrets', async () => {
  const { log } = await start();
  const send = JSON.stringify({ secretAccessKey: 'sEcReT' });
  await talk({ port, method: 'PUT', path: '/tasks/web-1/credentials', headers: { ...bearer(), ...json }, send });
  await vi.waitFor(() => expect(log.join('')).toContain('"url":"/tasks/web-1/credentials","status":400'));
  expect(log.join('')).not.toContain(token());
  expect(log.join('')).not.toContain('sEcReT');
});

describe('the metrics listener', () => {
  it('has metrics and health under any Host, and nothing else', async () => {
    const metrics = await freePort();
    await start({ metricsAddress: { host: '127.0.0.1', port: metrics } });
    const headers = { host: 'node-7.example', ...bearer() };
    for (const path of ['/metrics', '/healthz', '/readyz'])
      expect(await talk({ port: metrics, path, headers })).toMatchObject({ status: 200 });
    for (const path of ['/tasks', '/', '/docs', '/openapi.json', '/host'])
      expect(await talk({ port: metrics, path, headers })).toMatchObject({ status: 404 });
  });
});

describe('a stop', () => {
  it('answers who waits, ends streams, refuses new calls and takes the socket away', async () => {
    const { app, attachments } = await start();
    const web = parseTaskId('web-1') as TaskId;
    const waiting = talk({ socketPath, method: 'POST', path: `/tasks/${web}/network`, headers: json, send: body });
    const stream = talk({ socketPath, path: '/tasks', headers: { accept: 'text/event-stream' } });
    await vi.waitFor(() => expect(attachments.requests).toHaveLength(1));
    const started = Date.now();
    await app.get(Listeners).stop();
    const answer = await waiting;
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'shutting-down' });
    expect((await stream).body).toContain('event: snapshot');
    expect(Date.now() - started).toBeLessThan(1500);
    await expect(talk({ port, path: '/healthz' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(statSync(socketPath, { throwIfNoEntry: false })).toBeUndefined();
    attachments.becomeReady(web);
  });

  it('is not held up by connections that are kept alive or half open', async () => {
    const { app } = await start();
    const agent = new Agent({ keepAlive: true });
    await talk({ port, path: '/healthz', agent });
    const half = talkRaw(port, 'GET /healthz HTTP/1.1\r\nHo');
    // A later connection that is answered shows that the earlier one is accepted.
    await talk({ port, path: '/healthz' });
    const started = Date.now();
    await app.get(Listeners).stop();
    expect(Date.now() - started).toBeLessThan(3000);
    expect(await half).toBe('');
    agent.destroy();
  });
});

it('a client that hangs up does not stop the attach', async () => {
  const { attachments } = await start();
  const call = request({ socketPath, method: 'POST', path: '/tasks/web-1/network', headers: json });
  call.on('error', () => undefined).end(body);
  await vi.waitFor(() => expect(attachments.requests).toHaveLength(1));
  call.destroy();
  const again = talk({ socketPath, method: 'POST', path: '/tasks/web-1/network', headers: json, send: body });
  await vi.waitFor(() => expect(attachments.requests).toHaveLength(2));
  attachments.becomeReady(parseTaskId('web-1') as TaskId);
  expect(await again).toMatchObject({ status: 200 });
});
