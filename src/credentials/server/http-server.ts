import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import { type Answer, malformed } from './answers.js';
import { auditLine } from './audit-line.js';
import type { AuditLog } from './audit-log.js';
import { Connections } from './connections.js';
import type { Counters } from './counters.js';
import type { Limiter } from './limiter.js';
import { normalizePeer, respond } from './respond.js';
import type { CredentialsTable } from './table.js';
import { type Target, parseTarget } from './target.js';

/** Who is at the other end of a connection, asked of the kernel once. */
interface Peer {
  readonly address: string;
  readonly port: number;
}

const connectionsEach = 64;
const connectionsTogether = 8192;
const secondsForHead = 5;
const secondsIdle = 5;
const longestHead = 8 * 1024;
/** Connections that may wait to be accepted; the kernel takes no more than net.core.somaxconn. */
const backlog = 4096;

/** A connection that has gone before it was looked at. */
const nobody: Peer = { address: '', port: 0 };

export interface HttpServerParts {
  readonly table: CredentialsTable;
  readonly limiter: Limiter;
  readonly counters: Counters;
  readonly audit: AuditLog | null;
  /** The server's own address: what comes from it is its own probe, and neither counted nor audited. */
  readonly own: string;
}

/** Serves the credentials over HTTP on a socket that listens already. */
export class HttpServer {
  private readonly server: Server;
  private readonly connections = new Connections(connectionsEach, connectionsTogether);
  private readonly peers = new WeakMap<Socket, Peer>();
  private draining = false;
  private onEmpty: (() => void) | undefined;

  constructor(private readonly parts: HttpServerParts) {
    this.server = createServer(
      {
        maxHeaderSize: longestHead,
        headersTimeout: secondsForHead * 1000,
        requestTimeout: secondsForHead * 1000,
        keepAliveTimeout: secondsIdle * 1000,
        connectionsCheckingInterval: 500,
      },
      (request, response) => this.answer(request, response),
    );
    this.server.timeout = secondsIdle * 1000;
    this.server.on('clientError', (error, socket) => this.refuse(error, socket as Socket));
    this.admitFirst();
  }

  listen(descriptor: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ fd: descriptor, backlog }, resolve);
    });
  }

  /** Accepts no more, and resolves once every connection has ended by itself: each is told to close with its next answer. */
  async drain(): Promise<void> {
    this.draining = true;
    // http's own close() would also cut idle connections, on which a request may be on its way.
    TcpServer.prototype.close.call(this.server);
    if (this.connections.size > 0) await new Promise<void>((resolve) => (this.onEmpty = resolve));
  }

  /** Puts the limit on connections before all that HTTP spends on one. */
  private admitFirst(): void {
    const accept = this.server.listeners('connection');
    this.server.removeAllListeners('connection');
    this.server.on('connection', (socket: Socket) => {
      const peer = { address: normalizePeer(socket.remoteAddress), port: socket.remotePort ?? 0 };
      if (!this.connections.open(peer.address)) {
        this.parts.counters.refuseConnection();
        // A reset leaves nothing behind in the kernel; a task that is cut off is one that floods.
        socket.resetAndDestroy();
        return;
      }
      this.peers.set(socket, peer);
      socket.once('close', () => this.closed(peer.address));
      for (const listener of accept) listener.call(this.server, socket);
    });
  }

  private closed(source: string): void {
    this.connections.close(source);
    if (this.connections.size === 0) this.onEmpty?.();
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const begun = performance.now();
    const { table, limiter, own } = this.parts;
    const peer = this.peers.get(request.socket) ?? nobody;
    const target = parseTarget(request.url ?? '');
    const asked = { method: request.method ?? '', target, peer: peer.address };
    const now = { wall: Date.now(), monotonic: begun };
    const answer = respond(asked, table, limiter, now);
    if (this.draining) response.shouldKeepAlive = false;
    response.writeHead(answer.status, answer.headers as string[]).end(answer.body);
    if (peer.address === own) return;
    this.note(begun, now.wall, answer, peer, target, request.headers['user-agent']);
  }

  /** What is not HTTP, did not come in time or has too long a head. */
  private refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
    const answer = malformed[status];
    const peer = this.peers.get(socket) ?? nobody;
    this.note(performance.now(), Date.now(), answer, peer);
    socket.end(rawAnswer(answer), () => socket.destroy());
  }

  private note(begun: number, time: number, answer: Answer, peer: Peer, target?: Target, userAgent?: string): void {
    const { audit, counters, table } = this.parts;
    const { status: code } = answer;
    const { address, port } = peer;
    counters.answered(code, (performance.now() - begun) / 1000);
    // No object is spread here: V8 makes the copy, with its double, in the old generation, which doubled the cost of a request.
    audit?.log(auditLine({ time, code, address, port, target, userAgent, taskId: table.at(address)?.taskId }));
  }
}

/** An answer as bytes, for a socket that has no response object. */
function rawAnswer({ status, headers, body }: Answer): string {
  const lines = Array.from({ length: headers.length / 2 }, (_, i) => `${headers[2 * i]}: ${headers[2 * i + 1]}`);
  return [`HTTP/1.1 ${status} `, ...lines, '', body].join('\r\n');
}
