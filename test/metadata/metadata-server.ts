import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Instance metadata version 2 on a loopback port: tokens by PUT, reads with a token only, version 1 refused.
 * What it knows and how it fails can be changed while it runs.
 */
export class MetadataServer {
  readonly requests: string[] = [];
  readonly keys = new Map<string, string>();
  /** Seconds that a token lives. */
  tokenLife = 21_600;
  /** `refuse`: reads get 401 whatever their token; `no-token`: PUT gets 403; `hang`: nothing is ever answered; `fail`: reads get 500; `portal`: all get a page. */
  mode: 'answer' | 'refuse' | 'no-token' | 'hang' | 'fail' | 'portal' = 'answer';
  /** Cuts a connection that carries its second request, as happens when its keep-alive time ends just then. */
  dropReused = false;
  private readonly used = new WeakSet<object>();
  private tokens = new Set<string>();

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.answer(request, response));
  }

  static async start(): Promise<MetadataServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new MetadataServer(server);
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Requests with the method, e.g. how many PUT there were. */
  count(method: string): number {
    return this.requests.filter((line) => line.startsWith(method)).length;
  }

  forgetTokens(): void {
    this.tokens.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(`${request.method} ${request.url}`);
    if (this.mode === 'hang') return;
    if (this.dropReused && this.used.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    this.used.add(request.socket);
    if (this.mode === 'portal') response.end('<html>\n<h1>Welcome</h1></html>');
    else if (request.method === 'PUT') this.giveToken(request, response);
    else this.read(request, response);
  }

  private giveToken(request: IncomingMessage, response: ServerResponse): void {
    const asked = request.headers['x-aws-ec2-metadata-token-ttl-seconds'];
    if (this.mode === 'no-token') response.writeHead(403).end();
    else if (request.url !== '/latest/api/token' || asked === undefined) response.writeHead(400).end();
    else {
      const token = randomUUID();
      this.tokens.add(token);
      response.writeHead(200, { 'x-aws-ec2-metadata-token-ttl-seconds': String(this.tokenLife) }).end(token);
    }
  }

  private read(request: IncomingMessage, response: ServerResponse): void {
    const token = request.headers['x-aws-ec2-metadata-token'];
    if (this.mode === 'refuse' || typeof token !== 'string' || !this.tokens.has(token)) response.writeHead(401).end();
    else if (this.mode === 'fail') response.writeHead(500).end();
    else {
      const value = this.keys.get((request.url ?? '').replace('/latest/meta-data/', ''));
      response.writeHead(value === undefined ? 404 : 200).end(value ?? '<html>404 - Not Found</html>');
    }
  }
}
