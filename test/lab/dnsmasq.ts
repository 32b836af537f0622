/** One dnsmasq on the subnet's switch: the lab runs one for DHCP and one for router advertisements. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostNamespace } from './host-namespace.js';
import { vpc } from './vpc.js';

export class Dnsmasq {
  readonly logFile: string;
  private readonly namespace: HostNamespace;
  private readonly name: string;
  private readonly directory: string;
  private child: ChildProcess | undefined;

  constructor(namespace: HostNamespace, name: string, directory: string) {
    this.namespace = namespace;
    this.name = name;
    this.directory = directory;
    this.logFile = `${directory}/${name}.log`;
  }

  get running(): boolean {
    return this.child !== undefined;
  }

  /** Resolves when it serves. No DNS, and nothing of the machine's own configuration. */
  async start(args: readonly string[]): Promise<void> {
    if (this.child !== undefined) throw new Error(`${this.name} runs already`);
    const log = openSync(this.logFile, 'a');
    const before = readFileSync(this.logFile, 'utf8').length;
    const fixed = [
      '--keep-in-foreground',
      '--conf-file=/dev/null',
      '--port=0',
      '--no-resolv',
      '--no-hosts',
      '--user=root',
    ];
    const own = [`--interface=${vpc.switchName}`, '--log-facility=-', `--pid-file=${this.directory}/${this.name}.pid`];
    this.child = this.namespace.start('dnsmasq', [...fixed, ...own, ...args], { stdio: ['ignore', log, log] });
    closeSync(log);
    const child = this.child;
    let failure: Error | undefined;
    child.once('error', (error) => (failure = error));
    for (let waited = 0; ; waited += 5) {
      const text = readFileSync(this.logFile, 'utf8').slice(before);
      if (/ started, /.test(text) && child.exitCode === null) return;
      if (failure !== undefined || child.exitCode !== null || waited > 5_000) {
        this.child = undefined;
        throw new Error(`${this.name} does not start: ${text}`, { cause: failure });
      }
      await sleep(5);
    }
  }

  async stop(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  log(): string[] {
    return readFileSync(this.logFile, 'utf8').split('\n').filter(Boolean);
  }
}
