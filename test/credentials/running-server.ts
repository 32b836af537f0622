/** A credentials server in a world made by hand, with all that it told. */
import { readFileSync, readdirSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { CredentialsServer, type CredentialsServerParts } from '../../src/credentials/credentials-server.js';
import type { Entry, ServedCredentials } from '../../src/credentials/server/messages.js';
import type { Report } from '../../src/credentials/server/report.js';
import { BridgeWorld, type TaskNamespace, serverAddress, serverPort } from './bridge-world.js';
import { compileServer } from './compiled-server.js';

export class RunningServer {
  readonly reports: Report[] = [];
  readonly log: string[] = [];
  readonly server: CredentialsServer;
  readonly auditLog: string;

  constructor(
    readonly world: BridgeWorld,
    parts: Partial<CredentialsServerParts> = {},
  ) {
    this.auditLog = `${world.folder}/audit/audit.log`;
    this.server = new CredentialsServer({
      namespace: () => world.namespace(),
      address: { host: serverAddress, port: serverPort },
      rate: { perSecond: 40, burst: 60 },
      auditLog: this.auditLog,
      logger: this.logger(),
      onReport: (report) => this.reports.push(report),
      entry: compileServer(world.folder),
      ...parts,
    });
  }

  static async start(parts: Partial<CredentialsServerParts> = {}): Promise<RunningServer> {
    const running = new RunningServer(await BridgeWorld.make(), parts);
    await running.server.start();
    await running.server.complete();
    return running;
  }

  /** Everything down to debug level, kept. */
  logger(): Logger {
    return pino({ level: 'debug' }, { write: (line: string) => void this.log.push(line) });
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.world.remove();
  }

  /** The pids of the server's processes: one, but for a hand-over. */
  pids(): number[] {
    return childrenOf(process.pid).filter((pid) => commandLine(pid).includes(this.world.folder));
  }

  pid(): number {
    const [pid] = this.pids();
    if (pid === undefined) throw new Error('no credentials server runs');
    return pid;
  }

  /** What was answered, by code, since the start. */
  counted(code: keyof Report['requests']): number {
    return this.reports.reduce((sum, { requests }) => sum + (requests[code] ?? 0), 0);
  }

  auditLines(path = this.auditLog): Record<string, unknown>[] {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

export const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
export const token = 'FwoGZXIvYXdzEXAMPLETOKEN==';

export function credentialsFor(name: string, life = 3_600_000): ServedCredentials {
  return {
    roleArn: `arn:aws:iam::123456789012:role/${name}`,
    accessKeyId: `AKID${name.toUpperCase()}`,
    secretAccessKey: secret,
    sessionToken: token,
    expiration: Date.now() + life,
  };
}

export function entryFor(task: TaskNamespace, name: string): Entry {
  return { id: `id-of-${name}`, taskId: name, address: task.address, credentials: credentialsFor(name) };
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

export function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
}

/** KiB, from /proc/<pid>/smaps_rollup. */
export function memoryOf(pid: number): { rss: number; pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
  return { rss: field('Rss'), pss: field('Pss') };
}

export function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`);
}
