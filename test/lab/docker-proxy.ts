/** Stands between the service and a Docker engine, and fails in the ways in which a connection can fail. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class DockerProxy {
  private readonly engine: string;
  private readonly directory: string;
  private server: Server | undefined;
  private readonly pairs = new Set<readonly [client: Socket, engine: Socket]>();
  private readonly mute = new Set<Socket>();
  private hanging = false;
  private limit = Infinity;

  private constructor(engine: string, directory: string) {
    this.engine = engine;
    this.directory = directory;
  }

  /** In front of the engine at `dockerHost`, a `unix:///...` URL. */
  static async start(dockerHost: string): Promise<DockerProxy> {
    const proxy = new DockerProxy(dockerHost.slice('unix://'.length), await mkdtemp(join(tmpdir(), 'docker-proxy-')));
    await proxy.open();
    return proxy;
  }

  private get path(): string {
    return join(this.directory, 'docker.sock');
  }

  get dockerHost(): string {
    return `unix://${this.path}`;
  }

  /** How many connections are being carried to the engine. */
  get connections(): number {
    return this.pairs.size;
  }

  /** How many connections were taken and are still waiting for an answer that does not come. */
  get unanswered(): number {
    return this.mute.size;
  }

  /** Takes connections (again), and carries each to the engine. */
  async open(): Promise<void> {
    this.hanging = false;
    this.limit = Infinity;
    if (this.server !== undefined) return;
    this.server = createServer({ allowHalfOpen: true }, (client) => this.take(client));
    this.server.listen(this.path);
    await once(this.server, 'listening');
  }

  /** Ends every connection, and takes no more: as when the engine is stopped. */
  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
    for (const socket of this.mute) socket.destroy();
    this.mute.clear();
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  }

  /** What is connected now stays so, but carries nothing any more, and no end of it either. New connections work. */
  freeze(): void {
    for (const [client, engine] of this.pairs) {
      client.unpipe();
      engine.unpipe();
      engine.resume();
      // The engine may end now; the client must not learn of it.
      engine.removeAllListeners('error').on('error', () => engine.destroy());
    }
  }

  /** From now on connections are taken and never answered. */
  hang(): void {
    this.hanging = true;
  }

  /** From now on the engine's answers break off after so many bytes. */
  truncateAfter(bytes: number): void {
    this.limit = bytes;
  }

  async stop(): Promise<void> {
    await this.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  private take(client: Socket): void {
    client.on('error', () => client.destroy());
    if (this.hanging) {
      this.mute.add(client);
      client.on('close', () => this.mute.delete(client));
      client.on('end', () => client.destroy());
      client.resume();
      return;
    }
    const engine = connect({ path: this.engine, allowHalfOpen: true });
    const pair = [client, engine] as const;
    this.pairs.add(pair);
    const end = () => {
      this.pairs.delete(pair);
      client.destroy();
      engine.destroy();
    };
    engine.on('error', end);
    client.on('close', end);
    client.pipe(engine);
    if (this.limit === Infinity) engine.pipe(client);
    else breakOff(engine, client, this.limit);
  }
}

function breakOff(engine: Socket, client: Socket, limit: number): void {
  let left = limit;
  engine.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    client.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) client.end();
  });
}
