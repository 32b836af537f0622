import type { ChildProcess } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';
import type { HostNamespace } from './host-namespace.js';
import { programFile } from './program-file.js';

interface Answer {
  readonly ready?: true;
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** One of the lab's servers: a Node process in a namespace, told what to do over an ipc channel. */
export class ControlledProcess {
  private readonly child: ChildProcess;
  private readonly name: string;
  private readonly waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  private lastId = 0;

  private constructor(child: ChildProcess, name: string) {
    this.child = child;
    this.name = name;
  }

  /** Resolves when the server listens. What it writes goes to `<directory>/<name>.log`. */
  static async start(
    namespace: HostNamespace,
    name: string,
    directory: string,
    args: readonly string[] = [],
  ): Promise<ControlledProcess> {
    const file = await programFile(name);
    const logFile = `${directory}/${name}.log`;
    const log = openSync(logFile, 'a');
    const child = namespace.start(process.execPath, ['--max-semi-space-size=2', file, ...args], {
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const server = new ControlledProcess(child, name);
    await server.becomesReady(logFile);
    return server;
  }

  private becomesReady(logFile: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.once('exit', (code, signal) => {
        const error = new Error(
          `${this.name} ended (${code ?? signal}): ${readFileSync(logFile, 'utf8').slice(-2000)}`,
        );
        reject(error);
        for (const { reject: refuse } of this.waiting.values()) refuse(error);
        this.waiting.clear();
      });
      this.child.on('message', (answer: Answer) => {
        if (answer.ready) resolve();
        else this.take(answer);
      });
    });
  }

  private take(answer: Answer): void {
    const waiter = this.waiting.get(answer.id ?? 0);
    this.waiting.delete(answer.id ?? 0);
    if (answer.error === undefined) waiter?.resolve(answer.result);
    else waiter?.reject(new Error(`${this.name}: ${answer.error}`));
  }

  call<T = void>(method: string, ...args: unknown[]): Promise<T> {
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      if (!this.child.connected) {
        reject(new Error(`${this.name} does not run any more`));
        return;
      }
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.child.send({ id, method, args });
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }
}
