import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ServiceProcess } from '../lab/service-process.js';

export interface HealthReport {
  readonly asked: number;
  /** Answers other than 200. */
  readonly refused: number;
  /** The longest answer, in milliseconds. */
  readonly longest: number;
  /** The same without the time in which service or asker could have run but the machine gave them no CPU. */
  readonly longestOwn: number;
}

/** Asks a service for its health every few milliseconds, from a process of its own, until stopped. */
export class HealthProbe {
  private readonly child: ChildProcess;
  private readonly output: Promise<string>;

  constructor(service: ServiceProcess) {
    const program = fileURLToPath(new URL('./health-probe.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, service.socket, String(service.pid)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child = child;
    this.output = text(child.stdout);
  }

  async stop(): Promise<HealthReport> {
    this.child.stdin?.end();
    return JSON.parse(await this.output) as HealthReport;
  }
}
