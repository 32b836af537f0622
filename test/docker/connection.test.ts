import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DockerSandboxes } from '../../src/sandboxes/docker.js';
import { run } from '../lab/command.js';
import { TestEngine } from './engine.js';

const logger = pino({ level: 'silent' });

let engine: TestEngine;
let certificates: string;
let server: Server | undefined;

/** A certificate authority, and what it signed for the engine and for its client. */
async function makeCertificates(directory: string): Promise<void> {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: directory });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl('req', '-x509', ...key, '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-subj', '/CN=ca', '-days', '2');
  for (const name of ['server', 'client']) {
    const files = ['-keyout', `${name}-key.pem`, '-out', `${name}.csr`];
    await openssl('req', ...key, ...files, '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1');
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-copy_extensions', 'copy'];
    await openssl('x509', '-req', '-in', `${name}.csr`, ...signer, '-out', `${name}-cert.pem`, '-days', '2');
  }
  await run('mv', ['client-cert.pem', 'cert.pem'], { cwd: directory });
  await run('mv', ['client-key.pem', 'key.pem'], { cwd: directory });
}

async function listen(made: Server): Promise<string> {
  server = made;
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  return `tcp://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

function carry(client: Socket): void {
  const upstream = connect(engine.dockerHost.slice('unix://'.length));
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const)
    one.on('error', () => other.destroy()).pipe(other);
}

function withTls(): Server {
  const read = (name: string) => readFileSync(join(certificates, name));
  const [key, cert, ca] = [read('server-key.pem'), read('server-cert.pem'), read('ca.pem')];
  return createTlsServer({ key, cert, ca, requestCert: true, rejectUnauthorized: true }, carry);
}

function ping(dockerHost: string, environment: Record<string, string> = {}): Promise<void> {
  return new DockerSandboxes({ dockerHost, instance: engine.instance }, logger, environment).ping();
}

beforeAll(async () => {
  engine = await TestEngine.start();
  certificates = await mkdtemp(join(tmpdir(), 'docker-tls-'));
  await makeCertificates(certificates);
});
afterEach(() => server?.close());
afterAll(async () => {
  await rm(certificates, { recursive: true });
  await engine.stop();
});

describe('an engine behind tcp://', () => {
  it('is reached in the clear', async () => {
    await ping(await listen(createServer(carry)));
  });

  it('is reached with TLS, each side knowing the other', async () => {
    const host = await listen(withTls());
    await ping(host, { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates });
  });

  it('is not spoken to in the clear when TLS is wanted, nor with TLS when it is not', async () => {
    const clear = await listen(createServer(carry));
    const tls = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates };
    await expect(ping(clear, tls)).rejects.toMatchObject({ code: 'docker-unavailable' });
    server?.close();
    await expect(ping(await listen(withTls()))).rejects.toMatchObject({ code: 'docker-unavailable' });
  });

  it('is not trusted with a certificate of somebody else', async () => {
    const host = await listen(withTls());
    const other = await mkdtemp(join(tmpdir(), 'docker-tls-'));
    await makeCertificates(other);
    await expect(ping(host, { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: other })).rejects.toMatchObject({
      code: 'docker-unavailable',
    });
    await rm(other, { recursive: true });
  });

  it('stops the start when the certificates are not there', async () => {
    const environment = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/none/such' };
    expect(() => new DockerSandboxes({ dockerHost: 'tcp://127.0.0.1', instance: 'x' }, logger, environment)).toThrow(
      /^DOCKER_CERT_PATH: .*\/none\/such\/ca\.pem/,
    );
  });
});
