import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Lab } from '../lab/lab.js';

/** Echo requests from a namespace, 20 a second, for as long as it takes: what is lost was lost meanwhile. */
export class Pings {
  private output = '';

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  /** `netns`: a path that nsenter takes. Resolves with the first reply. It ends with the lab, should nobody stop it before. */
  static async start(lab: Lab, netns: string, address: string): Promise<Pings> {
    const args = [`--net=${netns}`, 'ping', '-n', '-i', '0.05', '-W', '2', address];
    const pings = new Pings(lab.host.start('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    while (!pings.output.includes('icmp_seq=1 ')) {
      if (pings.child.stdout === null) throw new Error('ping has no output');
      await once(pings.child.stdout, 'data', { signal: AbortSignal.timeout(10_000) });
    }
    return pings;
  }

  /** How many were sent, and how many of them were not answered. */
  async stop(): Promise<{ sent: number; lost: number }> {
    this.child.kill('SIGINT');
    if (this.child.exitCode === null) await once(this.child, 'close');
    const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(this.output) ?? [];
    if (sent === undefined || received === undefined) throw new Error(`ping ended with: ${this.output.slice(-500)}`);
    return { sent: Number(sent), lost: Number(sent) - Number(received) };
  }
}
