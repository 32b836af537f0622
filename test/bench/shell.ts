/** A shell that waits in a namespace, so that what is measured is the work and not the starting of a shell. */
import { type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { HostNamespace } from '../lab/host-namespace.js';

export class Shell {
  private readonly child: ChildProcess;
  private heard: ((status: number) => void) | undefined;
  private errors = '';

  constructor(namespace: HostNamespace) {
    this.child = namespace.start('sh', [], { stdio: ['pipe', 'pipe', 'pipe'] });
    if (this.child.stdout === null) throw new Error('the shell has no output');
    createInterface(this.child.stdout).on('line', (line) => {
      const status = /^ended (\d+)$/.exec(line)?.[1];
      if (status !== undefined) this.heard?.(Number(status));
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
  }

  /** Runs the script, which stops at its first failure; milliseconds. */
  async run(script: string): Promise<number> {
    this.errors = '';
    const begun = performance.now();
    const status = await new Promise<number>((resolve) => {
      this.heard = resolve;
      this.child.stdin?.write(`( set -e\n${script}\n)\necho "ended $?"\n`);
    });
    if (status !== 0) throw new Error(`${script}\nended with ${status}: ${this.errors}`);
    return performance.now() - begun;
  }

  end(): void {
    this.child.stdin?.end();
  }
}
