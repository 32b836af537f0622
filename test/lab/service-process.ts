import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NetworkOrProblem } from './answers.js';
import { inCheckout } from './checkout.js';
import type { HostNamespace } from './host-namespace.js';
import { hasCode } from './lab-id.js';

export interface ServiceOptions {
  readonly env?: Record<string, string>;
  /** Whether to wait until /readyz answers 200; true unless given. */
  readonly waitReady?: boolean;
  readonly nodeArgs?: readonly string[];
  /** What executes node, e.g. `['setpriv', '--bounding-set', '-all']`; it must not fork. */
  readonly before?: readonly string[];
  /** The program; dist/main.js of the checkout unless given. */
  readonly entry?: string;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed when it is JSON, null when empty, else the text. */
  readonly body: T;
}

export interface LogLine {
  readonly level?: number;
  readonly msg: string;
  readonly [key: string]: unknown;
}

/** The product, started in the host's network namespace as it is in production. */
export class ServiceProcess {
  readonly pid: number;
  readonly socket: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  private readonly child: ChildProcess;
  private ended = false;

  private constructor(child: ChildProcess, environment: Record<string, string>, logFile: string) {
    if (child.pid === undefined) throw new Error('the service could not be started');
    this.child = child;
    this.pid = child.pid;
    this.environment = environment;
    this.socket = environment['TASK_ENI_API_SOCKET'] ?? '';
    this.logFile = logFile;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.ended = true;
        resolve({ code, signal });
      });
    });
  }

  /** `environment` is the whole of it. */
  static async start(
    host: HostNamespace,
    environment: Record<string, string>,
    logFile: string,
    options: ServiceOptions = {},
  ): Promise<ServiceProcess> {
    const log = openSync(logFile, 'a');
    const argv = [...(options.before ?? []), process.execPath, ...(options.nodeArgs ?? [])];
    const [command = '', ...args] = [...argv, options.entry ?? inCheckout('dist/main.js'), 'serve'];
    const child = host.start(command, args, { env: environment, stdio: ['ignore', log, log] });
    closeSync(log);
    const service = new ServiceProcess(child, environment, logFile);
    if (options.waitReady ?? true) await service.becomesReady();
    return service;
  }

  get hasEnded(): boolean {
    return this.ended;
  }

  /** Resolves when /readyz answers 200; throws with the log's end when the process ends first, or after 20 s. */
  async becomesReady(): Promise<void> {
    const deadline = Date.now() + 20_000;
    let last = 'it does not listen';
    while (!this.ended && Date.now() < deadline) {
      try {
        const answer = await this.api<unknown>('GET', '/readyz');
        if (answer.status === 200) return;
        last = `/readyz: ${answer.status} ${JSON.stringify(answer.body)}`;
      } catch (error) {
        if (!hasCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET')) throw error;
      }
      await sleep(10);
    }
    const reason = this.ended ? 'it ended' : last;
    throw new Error(`the service is not ready: ${reason}\n${readFileSync(this.logFile, 'utf8').slice(-4000)}`);
  }

  /** A request over the unix socket, where no token is needed. A string is sent as it is, anything else as JSON. */
  api<T = NetworkOrProblem>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const described =
      sent === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(sent) };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { socketPath: this.socket, method, path, headers: { Host: 'localhost', ...described, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const body = parseBody(text, response.headers['content-type']) as T;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(sent);
    });
  }

  post(taskId: string, body: unknown, headers?: Record<string, string>): Promise<Answer<NetworkOrProblem>> {
    return this.api('POST', networkPath(taskId), body, headers);
  }
  get(taskId: string): Promise<Answer<NetworkOrProblem>> {
    return this.api('GET', networkPath(taskId));
  }
  del(taskId: string, options: { force?: boolean } = {}): Promise<Answer<NetworkOrProblem>> {
    return this.api('DELETE', networkPath(taskId) + (options.force ? '?force=true' : ''));
  }

  /** What it has logged so far, by this process and those before it in the lab. A line that is not JSON is its own message. */
  logs(): LogLine[] {
    const lines = readFileSync(this.logFile, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => (line.startsWith('{') ? (JSON.parse(line) as LogLine) : { msg: line }));
  }

  /** SIGTERM, and its exit code. */
  async stop(): Promise<number | null> {
    if (!this.ended) this.child.kill('SIGTERM');
    return (await this.exited).code;
  }
  async kill(): Promise<void> {
    if (!this.ended) this.child.kill('SIGKILL');
    await this.exited;
  }
}

function networkPath(taskId: string): string {
  return `/tasks/${encodeURIComponent(taskId)}/network`;
}

function parseBody(text: string, type: string | undefined): unknown {
  if (text === '') return null;
  return /^application\/(?:[\w.-]+\+)?json\b/.test(type ?? '') ? JSON.parse(text) : text;
}
