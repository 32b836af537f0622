import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { parseIpv6 } from '../addresses/cidr.js';
import type { ListenAddress } from '../environment-reader.js';
import { TaskEniError, describeError } from '../errors.js';
import type { Settings } from '../settings.js';
import { type DoorPolicy, faultOfTarget, pathOf, refusalAt } from './admission.js';
import { createHttpServer } from './http-server.js';
import { LOGGER, SETTINGS } from './injection.js';
import { sendProblem } from './problem.js';
import { listenAtPath } from './socket-file.js';
import { StopSignal, shuttingDown } from './stop-signal.js';
import { isNamedIn, readTlsFiles } from './tls-files.js';
import { TokenFile } from './token-file.js';

/** How long answers that are being written may take once the service stops. */
const lastAnswersMs = 2000;

/** Undefined lets the request in. */
type Door = (request: IncomingMessage) => TaskEniError | undefined;

/**
 * The ways in to one API. Each has a door of its own, which knows by which way a request came because it is that way:
 * nothing in a request can claim to have come by another.
 */
@Injectable()
export class Listeners {
  private readonly servers: Server[] = [];
  private token: TokenFile | undefined;
  private tlsServer: TlsServer | undefined;
  private certificate: X509Certificate | undefined;
  private removeSocket: (() => void) | undefined;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly stopSignal: StopSignal,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves once every listener of the settings listens; when one cannot, none does, and the error names its variable. */
  async start(handler: RequestListener): Promise<void> {
    const { apiSocket, apiAddress, metricsAddress } = this.settings;
    try {
      if (apiSocket !== null) await named('TASK_ENI_API_SOCKET', () => this.startSocket(handler, apiSocket));
      if (apiAddress !== null) await named('TASK_ENI_API_ADDRESS', () => this.startTcp(handler, apiAddress));
      if (metricsAddress !== null)
        await named('TASK_ENI_METRICS_ADDRESS', () => this.startMetrics(handler, metricsAddress));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Reads token and certificate again; what cannot be used leaves the former in force and is logged. */
  reload(): void {
    try {
      this.token?.reload();
      if (this.tlsServer !== undefined && this.settings.apiTls !== null) {
        const tls = readTlsFiles(this.settings.apiTls);
        this.tlsServer.setSecureContext({ ...tls, minVersion: 'TLSv1.2' });
        this.certificate = new X509Certificate(tls.cert as Buffer);
      }
      this.logger.info('token and certificates are read again');
    } catch (error) {
      this.logger.error({ err: error }, `the former token and certificates stay: ${describeError(error)}`);
    }
  }

  /** Stops accepting, answers what waits with shutting-down, and resolves when every connection is closed. */
  async stop(): Promise<void> {
    this.stopSignal.begin();
    const closed = this.servers.splice(0).map((server) => closeServer(server));
    await Promise.all(closed);
    this.removeSocket?.();
    this.removeSocket = undefined;
  }

  private async startSocket(handler: RequestListener, path: string): Promise<void> {
    const server = this.createServer(handler, () => undefined, null);
    const { apiSocketGroup: group, runDir } = this.settings;
    this.removeSocket = await listenAtPath(server, path, { group, ownFolder: dirname(path) === runDir });
    this.logger.info({ path }, 'the API listens on its socket');
  }

  private async startTcp(handler: RequestListener, address: ListenAddress): Promise<void> {
    const { apiTls, apiTokenFile } = this.settings;
    const token = TokenFile.open(apiTokenFile);
    const tls = apiTls === null ? null : readTlsFiles(apiTls);
    if (tls !== null) this.certificate = new X509Certificate(tls.cert as Buffer);
    this.token = token;
    const door: Door = (request) =>
      refusalAt(
        { isToken: (candidate) => token.matches(candidate), isOurName: this.namesAt(request, address) },
        { path: pathOf(request.url ?? ''), host: request.headers.host, authorization: request.headers.authorization },
      );
    const server = this.createServer(handler, door, tls);
    if (tls !== null) this.tlsServer = server as TlsServer;
    await listenAt(server, address);
    this.logger.info({ ...address, tls: tls !== null }, 'the API listens');
  }

  private async startMetrics(handler: RequestListener, address: ListenAddress): Promise<void> {
    const open = new Set(['/metrics', '/healthz', '/readyz']);
    const door: Door = ({ url = '' }) =>
      open.has(pathOf(url)) ? undefined : new TaskEniError('not-found', 'this listener has metrics and health only');
    await listenAt(this.createServer(handler, door, null), address);
    this.logger.info({ ...address }, 'metrics are served');
  }

  /** The listener's names: what it was told to listen on, the address that the connection came to, and its certificate's. */
  private namesAt({ socket }: IncomingMessage, address: ListenAddress): DoorPolicy['isOurName'] {
    const here = (socket.localAddress ?? '').replace(/^::ffff:/, '');
    const local = here === '::1' || here.startsWith('127.');
    return (host) => {
      if (host === address.host || (parseIpv6(host) ?? host) === here || (local && host === 'localhost')) return true;
      return this.certificate !== undefined && isNamedIn(this.certificate, host);
    };
  }

  private createServer(handler: RequestListener, door: Door, tls: ReturnType<typeof readTlsFiles> | null): Server {
    const server = createHttpServer((request, response) => this.enter(handler, door, request, response), tls);
    this.servers.push(server);
    return server;
  }

  private enter(handler: RequestListener, door: Door, request: IncomingMessage, response: ServerResponse): void {
    this.follow(request, response);
    if (this.stopSignal.stopping) return sendProblem(response, shuttingDown(), { connection: 'close' });
    const refusal = faultOfTarget(request.url ?? '') ?? door(request);
    if (refusal !== undefined) return sendProblem(response, refusal);
    handler(request, response);
  }

  /** A line for each request, for who looks for one; neither headers nor bodies, which hold secrets. */
  private follow({ method, url }: IncomingMessage, response: ServerResponse): void {
    if (!this.logger.isLevelEnabled('debug')) return;
    const started = performance.now();
    response.once('close', () => {
      const ms = Math.round(performance.now() - started);
      this.logger.debug({ method, url, status: response.statusCode, ms, whole: response.writableEnded }, 'request');
    });
  }
}

async function listenAt(server: Server, { host, port }: ListenAddress): Promise<void> {
  server.listen({ host, port });
  await once(server, 'listening');
}

async function named(variable: string, start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    throw new Error(`${variable}: ${describeError(error)}`, { cause: error });
  }
}

/** Connections that are kept alive end as soon as their last answer is out; what is not out in time is cut. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close').then(() => true);
  server.close();
  const deadline = Date.now() + lastAnswersMs;
  while (Date.now() < deadline) {
    server.closeIdleConnections();
    if (await Promise.race([closed, delay(20, false)])) return;
  }
  server.closeAllConnections();
  await closed;
}
