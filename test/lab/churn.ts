import type { ChildProcess } from 'node:child_process';
import type { HostNamespace } from './host-namespace.js';

/** Lines for `ip -batch` that add `count` links, two ends of each pair; `first` makes their names differ from earlier ones. */
export function linkLines(first: number, count: number): string[] {
  const lines: string[] = [];
  for (let n = first; n < first + count; n += 2) lines.push(`link add lk${n} type veth peer name lk${n + 1}`);
  return lines;
}

/** Links that come and go, one pair after the other as fast as the kernel can. */
export class Churn {
  private readonly child: ChildProcess;

  constructor(namespace: HostNamespace) {
    const script = "yes 'link add churn0 type veth peer name churn1\nlink delete churn0' | ip -force -batch -";
    // A group of its own, to be killed whole.
    this.child = namespace.start('sh', ['-c', script], { stdio: 'ignore', detached: true });
  }

  async stop(): Promise<void> {
    if (this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    process.kill(-this.child.pid, 'SIGKILL');
    await ended;
  }
}
