import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TaskNamespace, runIn } from './bridge-world.js';
import { fetchIn } from './fetching.js';
import { RunningServer, entryFor, secret, token } from './running-server.js';

/** Sends bytes as they are, from within a task, and prints what comes back. */
const sendRaw = `
const socket = require('node:net').connect({ host: '169.254.170.2', port: 80 });
let text = '';
socket.on('data', (chunk) => (text += chunk));
socket.on('close', () => process.stdout.write(JSON.stringify(text)));
socket.on('error', () => {});
socket.write(Buffer.from(process.argv[1], 'base64'));
`;

describe('who gets the credentials', () => {
  let running: RunningServer;
  let web: TaskNamespace;
  let db: TaskNamespace;

  beforeAll(async () => {
    running = await RunningServer.start({ rate: { perSecond: 1000, burst: 1000 } });
    web = await running.world.addTask();
    db = await running.world.addTask();
    await running.server.put(entryFor(web, 'web'));
    await running.server.put(entryFor(db, 'db'));
  });
  afterAll(() => running.stop());

  async function raw(task: TaskNamespace, text: string): Promise<string> {
    const bytes = Buffer.from(text, 'latin1').toString('base64');
    return JSON.parse(await runIn(task, process.execPath, ['-e', sendRaw, bytes])) as string;
  }
  const get = (task: TaskNamespace, target: string, headers = '') =>
    raw(task, `GET ${target} HTTP/1.1\r\nHost: 169.254.170.2\r\nConnection: close\r\n${headers}\r\n`);

  it('is each task with its own id, by both versions of the path, with one slash or two', async () => {
    for (const path of ['/v2/credentials/id-of-web', '//v2/credentials/id-of-web', '/v1/credentials?id=id-of-web']) {
      const answer = await get(web, path);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).toMatch(/\r\nContent-Type: application\/json\r\n/);
      expect(answer).toMatch(/\r\nCache-Control: no-store\r\n/);
      expect(answer).toMatch(/"Expiration":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/);
      expect(answer).not.toMatch(/\r\n(Location|X-Powered-By|ETag):/i);
    }
  });

  it('is no other task', async () => {
    const answer = await get(web, '/v2/credentials/id-of-db');
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('"code":"AccessDenied"');
    expect(answer).not.toContain(secret);
  });

  it.each([
    'X-Forwarded-For: 169.254.172.3',
    'Forwarded: for=169.254.172.3',
    'X-Real-IP: 169.254.172.3',
    'True-Client-IP: 169.254.172.3\r\nX-Client-IP: 169.254.172.3\r\nVia: 1.1 169.254.172.3',
    'Host: 169.254.172.3',
  ])('is nobody for what a header says: %j', async (header) => {
    const answer = await get(web, '/v2/credentials/id-of-db', `${header}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(answer).not.toContain(secret);
  });

  it.each([
    '/v2/credentials/id-of-web/../id-of-db',
    '/v2/credentials/%69d-of-web',
    '/v2/credentials/id-of-web%2f..%2fid-of-db',
    '/v2/credentials/id-of-web/',
    '/v2/credentials/',
    '/v2/credentials',
    '/v1/credentials?id=id-of-web&id=id-of-db',
    '/v2/credentials/../credentials/id-of-web',
    '/v2%2fcredentials/x',
    '/latest/meta-data/',
    '/',
    '*',
  ])('is nobody at %s', async (target) => {
    const answer = await get(web, target);
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toHaveProperty('HTTPErrorCode');
    expect(answer).not.toContain(secret);
    expect(answer).not.toMatch(/\n\s+at /);
  });

  it('is nobody who asks by another method', async () => {
    for (const method of ['POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']) {
      const answer = await raw(
        web,
        `${method} /v2/credentials/id-of-web HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 405 /);
      expect(answer).toContain('\r\nAllow: GET\r\n');
      expect(answer).not.toContain(secret);
    }
  });

  it('is nobody who does not speak HTTP, or not shortly', async () => {
    expect(await raw(web, 'HELO there\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"code":"BadRequest"/s);
    expect(await get(web, '/v2/credentials/id-of-web', `X: ${'x'.repeat(10_000)}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    const smuggled = 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await raw(web, smuggled)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('is nobody once the server has forgotten the id, and nobody who has the address after', async () => {
    const gone = await running.world.addTask();
    await running.server.put(entryFor(gone, 'gone'));
    expect((await fetchIn(gone, '/v2/credentials/id-of-gone')).codes).toEqual({ 200: 1 });
    await running.server.forget('id-of-gone');
    const unknown = await fetchIn(gone, '/v2/credentials/id-of-gone');
    expect(unknown.codes).toEqual({ 400: 1 });
    expect(JSON.parse(unknown.body)).toMatchObject({ code: 'InvalidIdInRequest' });
    // The same namespace, with the same address, is another task now.
    await running.server.put({ ...entryFor(gone, 'next'), id: 'id-of-next' });
    expect((await fetchIn(gone, '/v2/credentials/id-of-gone')).codes).toEqual({ 400: 1 });
    expect((await fetchIn(gone, '/v2/credentials/id-of-next')).body).toContain('AKIDNEXT');
  });

  it('has never been told, in the audit log, in the answers counted or in the log of the service', () => {
    expect(running.counted(403)).toBeGreaterThan(0);
    for (const text of [running.log.join(''), JSON.stringify(running.auditLines()), JSON.stringify(running.reports)]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(token);
      expect(text).not.toContain('id-of-web');
    }
  });
});
