import type { ChildProcess } from 'node:child_process';
import type { HostNamespace } from './host-namespace.js';

/** Lines for `ip -batch` that add `count` links, two ends of each pair; `first` makes their names differ from earlier ones. */
export function linkLines(first: number, count: number): string[] {
  const lines: string[] = [];
  for (let n = first; n < first + count; n += 2) lines.push(`link add lk${n} type veth peer name lk${n + 1}`);
  return lines;
}

/** Pairs of links that come and go as fast as the kernel can: about 60 a second, up to eight at once. */
export class Churn {
  private readonly child: ChildProcess;

  constructor(namespace: HostNamespace) {
    const pairs = [...Array(8).keys()];
    const lines = [
      ...pairs.map((n) => `link add churn${n} type veth peer name churnp${n}`),
      ...pairs.map((n) => `link delete churn${n}`),
    ];
    const script = `yes '${lines.join('\n')}' | ip -force -batch -`;
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
