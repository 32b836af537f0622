import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Listeners } from '../../src/api/listeners.js';
import { type ApiApp, makeApiApp } from './api-app.js';
import { freePort } from './free-port.js';
import { talk } from './talk.js';

let folder: string;
let port: number;
let api: ApiApp;
const file = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(file(name));

/** A key and a certificate of its own making. */
function makeCertificate(name: string, subject: string, names: string): void {
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const out = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
  const about = ['-subj', `/CN=${subject}`, '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', ['req', ...options, ...out, ...about], { stdio: 'pipe' });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'task-eni-tls-'));
  makeCertificate('server', 'node-7.example', 'DNS:node-7.example,IP:127.0.0.1');
  makeCertificate('next', 'node-8.example', 'DNS:node-8.example,IP:127.0.0.1');
  makeCertificate('client', 'agent', 'DNS:agent');
  makeCertificate('stranger', 'stranger', 'DNS:stranger');
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => {
  port = await freePort();
});
afterEach(async () => {
  await api.app.get(Listeners).stop();
  await api.app.close();
});

async function start(clientCa: string | null): Promise<void> {
  api = await makeApiApp({
    apiSocket: null,
    apiAddress: { host: '0.0.0.0', port },
    apiTokenFile: file('token'),
    apiTls: { cert: file('server.crt'), key: file('server.key'), clientCa },
  });
  await api.app.get(Listeners).start(api.app.getHttpAdapter().getInstance());
}
const call = (host: string, tls: object = {}, ca = 'server.crt') =>
  talk({
    host: '127.0.0.1',
    port,
    path: '/tasks',
    headers: { host, authorization: `Bearer ${read('token').toString().trim()}` },
    tls: { ca: read(ca), servername: '', ...tls },
  });

describe('TLS', () => {
  it('takes the names of the certificate for Host, and no others', async () => {
    await start(null);
    expect(await call('node-7.example')).toMatchObject({ status: 200 });
    expect(await call('127.0.0.1')).toMatchObject({ status: 200 });
    expect(await call('evil.example')).toMatchObject({ status: 400 });
  });

  it('still wants the token', async () => {
    await start(null);
    const answer = await talk({ host: '127.0.0.1', port, path: '/tasks', tls: { ca: read('server.crt') } });
    expect(answer).toMatchObject({ status: 401 });
  });

  it('takes renewed files when told to read again', async () => {
    await start(null);
    for (const part of ['crt', 'key']) {
      renameSync(file(`server.${part}`), file(`former.${part}`));
      renameSync(file(`next.${part}`), file(`server.${part}`));
    }
    api.app.get(Listeners).reload();
    expect(await call('node-8.example')).toMatchObject({ status: 200 });
    expect(await call('node-7.example')).toMatchObject({ status: 400 });
  });
});

describe('mutual TLS', () => {
  it('lets in who has a certificate of the CA only', async () => {
    await start(file('client.crt'));
    expect(await call('127.0.0.1', { cert: read('client.crt'), key: read('client.key') })).toMatchObject({
      status: 200,
    });
    await expect(call('127.0.0.1')).rejects.toThrow();
    await expect(call('127.0.0.1', { cert: read('stranger.crt'), key: read('stranger.key') })).rejects.toThrow();
  });
});
