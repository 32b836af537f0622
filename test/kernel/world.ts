/** Namespaces that a test makes with `ip` and loses again, whatever happens to it. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type Namespace, openNamespace } from '../../src/kernel/namespaces.js';
import { NetlinkSession } from '../../src/kernel/netlink.js';

const prefix = 'tek';

export function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export class World {
  private readonly names: string[] = [];
  private readonly closers: (() => void)[] = [];
  private count = 0;

  constructor() {
    removeLeftovers();
  }

  /** A fresh namespace with `lo` up; gives its name. */
  add(): string {
    const name = this.unusedName();
    run('ip', 'netns', 'add', name);
    this.ip(name, 'link', 'set', 'lo', 'up');
    return name;
  }

  /** A name that is removed afterwards if the test makes a namespace of it. */
  unusedName(): string {
    this.count += 1;
    const name = `${prefix}-${process.pid}-${this.count}`;
    this.names.push(name);
    return name;
  }

  open(name: string): Namespace {
    const namespace = openNamespace(`/run/netns/${name}`);
    this.closers.push(() => namespace.close());
    return namespace;
  }

  session(name: string): NetlinkSession {
    const session = NetlinkSession.open(this.open(name));
    this.closers.push(() => session.close());
    return session;
  }

  ip(name: string, ...args: readonly string[]): string {
    return run('ip', '-n', name, ...args);
  }

  exec(name: string, command: string, ...args: readonly string[]): string {
    return run('ip', 'netns', 'exec', name, command, ...args);
  }

  close(): void {
    for (const close of this.closers.toReversed()) close();
    const present = new Set(readdirSync('/run/netns'));
    for (const name of this.names) if (present.has(name)) run('ip', 'netns', 'delete', name);
  }
}

/** What a killed run left behind. */
function removeLeftovers(): void {
  const processes = new Set(readdirSync('/proc'));
  run('mkdir', '-p', '/run/netns');
  for (const name of readdirSync('/run/netns')) {
    const [owner, pid] = name.split('-');
    if (owner === prefix && pid !== undefined && !processes.has(pid)) run('ip', 'netns', 'delete', name);
  }
}
