import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Ipv4 } from '../addresses/cidr.js';
import { TaskEniError, describeError } from '../errors.js';
import type { Namespace } from '../kernel/namespaces.js';
import { openAuditFile } from './audit-file.js';
import { Listener } from './listener.js';
import { LostAudit } from './lost-audit.js';
import { restartDelay } from './restart-delay.js';
import { ServerProcess } from './server-process.js';
import { spawnServer } from './spawn-server.js';
import type { Configuration, Entry, Message, Rate } from './server/messages.js';
import type { Report } from './server/report.js';

export interface CredentialsServerParts {
  /** The bridge's namespace; throws while there is none. */
  readonly namespace: () => Namespace;
  readonly address: { readonly host: Ipv4; readonly port: number };
  readonly rate: Rate;
  /** Path of the audit log; null for none. */
  readonly auditLog: string | null;
  readonly logger: Logger;
  readonly onReport: (report: Report) => void;
  /** The compiled server/main.js, for whoever does not run from the compiled tree. */
  readonly entry?: string | undefined;
}

/** Milliseconds. */
const servingPatience = 15_000;
const probePatience = 2_000;
const stopPatience = 2_000;
const namespaceCheckEvery = 2_000;

/**
 * Keeps a credentials server running in the bridge's namespace and knowing all that it should know.
 *
 * - The listening socket is held here for as long as the namespace lives, so that connections wait, and are not refused,
 *   while a process that died is replaced; and so that one with a freshly opened audit log can take over from another.
 * - A process is told all entries before it accepts its first connection.
 * - `forget` resolves only once no process, the one that hands over included, can answer with the entry.
 */
export class CredentialsServer {
  private readonly entries = new Map<string, Entry>();
  private readonly processes = new Set<ServerProcess>();
  private readonly draining = new WeakSet<ServerProcess>();
  private readonly listener: Listener;
  private readonly lostAudit: LostAudit;
  private launching: Promise<ServerProcess | undefined> = Promise.resolve(undefined);
  private handingOver: Promise<void> = Promise.resolve();
  private completed = false;
  private failures = 0;
  private stopping = false;
  private watch: NodeJS.Timeout | undefined;
  /** Why nothing is served at the moment. */
  problem = 'it was not started';

  constructor(private readonly parts: CredentialsServerParts) {
    this.listener = new Listener(parts.namespace, parts.address);
    this.lostAudit = new LostAudit(parts.logger);
  }

  /**
   * Resolves once it serves, or once a first attempt failed: it goes on trying. Throws when the audit log cannot be
   * opened.
   */
  async start(): Promise<void> {
    if (this.parts.auditLog !== null) closeSync(openAuditFile(this.parts.auditLog));
    this.watch = setInterval(() => this.checkNamespace(), namespaceCheckEvery);
    const first = await this.launch();
    await first?.ready;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.watch);
    await this.launching;
    for (const process of this.processes) process.close();
    const ends = Promise.all([...this.processes].map(({ ended }) => ended));
    await Promise.race([ends, delay(stopPatience, undefined, { ref: false })]);
    for (const process of this.processes) process.kill('it does not stop');
    await ends;
    this.listener.close();
  }

  /** Resolves once the server answers for the entry. Throws `step-failed` when none comes up in time. */
  async put(entry: Entry): Promise<void> {
    this.entries.set(entry.id, entry);
    await this.tell({ do: 'put', entry });
    await this.serving();
  }

  /** Resolves once nobody can be answered with the entry any more. */
  async forget(id: string): Promise<void> {
    this.entries.delete(id);
    await this.tell({ do: 'forget', id });
  }

  /** Every task of before the start has been put: from now on an id that was not is nobody's, and not one to come again for. */
  async complete(): Promise<void> {
    this.completed = true;
    await this.tell({ do: 'complete' });
  }

  /** Whether a fetch over the address that containers use is answered right now. */
  async ready(): Promise<boolean> {
    const process = this.servingProcess();
    if (process === undefined) return false;
    const answered = await process.probe(probePatience);
    const { host, port } = this.parts.address;
    this.problem = answered ? '' : `a fetch over ${host}:${port} was not answered`;
    return answered;
  }

  /**
   * Opens the audit log anew, after it was renamed. Its descriptor can be handed over only at birth, so another process
   * takes over the listening socket, and the one before ends with its last connection: no request is refused or unlogged.
   */
  reopenAudit(): Promise<void> {
    const handOver = () => this.handOver();
    // After the one before, whatever became of it.
    this.handingOver = this.handingOver.then(handOver, handOver);
    return this.handingOver;
  }

  /** One at a time: of two, each would send the other's successor away. */
  private async handOver(): Promise<void> {
    if (this.parts.auditLog === null || this.stopping) return;
    const next = await this.launch();
    const former = [...this.processes].filter((process) => process !== next);
    if (next === undefined || !(await next.ready)) {
      this.parts.logger.error('the audit log was not opened anew: the credentials server did not start');
      return;
    }
    for (const process of former) {
      this.draining.add(process);
      void process.send({ do: 'drain' });
    }
  }

  private async tell(message: Message): Promise<void> {
    await Promise.all([...this.processes].map((process) => process.send(message)));
  }

  private servingProcess(): ServerProcess | undefined {
    return [...this.processes].findLast((process) => process.listening && !this.draining.has(process));
  }

  private async serving(): Promise<void> {
    const deadline = performance.now() + servingPatience;
    while (this.servingProcess() === undefined) {
      if (this.stopping || performance.now() > deadline)
        throw new TaskEniError('step-failed', `the credentials server does not serve: ${this.problem}`);
      await delay(10);
    }
  }

  /** Undefined when it failed; another attempt is under way then. One at a time. */
  private launch(): Promise<ServerProcess | undefined> {
    this.launching = this.launching.then(() => this.attempt());
    return this.launching;
  }

  private relaunch(): void {
    this.launching = this.launching.then(() => (this.stopping || this.hasSuccessor() ? undefined : this.attempt()));
  }

  private async attempt(): Promise<ServerProcess | undefined> {
    try {
      const { namespace, auditLog, entry } = this.parts;
      const child = await spawnServer({ namespace, listener: () => this.listener.open(), auditLog, entry });
      const process = new ServerProcess(child, (report) => this.take(report));
      this.tellAll(process);
      void process.ended.then((how) => this.ended(process, how));
      return process;
    } catch (error) {
      this.fail(describeError(error));
      return undefined;
    }
  }

  private take(report: Report): void {
    this.lostAudit.add(report.auditDropped);
    this.parts.onReport(report);
  }

  private tellAll(process: ServerProcess): void {
    const { address, rate, auditLog } = this.parts;
    const configuration: Configuration = { ...address, rate, audit: auditLog !== null };
    this.processes.add(process);
    void process.send({ do: 'configure', configuration });
    for (const entry of this.entries.values()) void process.send({ do: 'put', entry });
    if (this.completed) void process.send({ do: 'complete' });
    void process.send({ do: 'listen' });
    void process.ready.then((listening) => listening && this.succeed(process));
  }

  private succeed(process: ServerProcess): void {
    this.problem = '';
    this.parts.logger.info({ serverPid: process.pid, entries: this.entries.size }, 'the credentials server serves');
    // Ten seconds of life make a later end a new one, not the next of a row.
    const steady = setTimeout(() => (this.failures = 0), 10_000);
    void process.ended.then(() => clearTimeout(steady));
  }

  private ended(process: ServerProcess, how: string): void {
    this.processes.delete(process);
    if (this.draining.has(process)) return;
    const output = process.lastWords.trim();
    this.fail(output === '' ? `it ended: ${how}` : `it ended: ${how}: ${output}`);
  }

  private fail(problem: string): void {
    if (this.stopping) return;
    const milliseconds = restartDelay(this.failures);
    this.failures += 1;
    this.parts.logger.warn({ problem, milliseconds }, 'a credentials server does not serve');
    if (this.hasSuccessor()) return;
    this.problem = problem;
    setTimeout(() => this.relaunch(), milliseconds);
  }

  /** Whether a process lives, or is being started, that is to go on serving. */
  private hasSuccessor(): boolean {
    return [...this.processes].some((process) => process.alive && !this.draining.has(process));
  }

  private checkNamespace(): void {
    try {
      if (!this.listener.isStale()) return;
    } catch (error) {
      this.parts.logger.debug({ error: describeError(error) }, 'the bridge namespace is not there');
      return;
    }
    this.listener.close();
    for (const process of this.processes) process.kill('the bridge has another namespace');
  }
}
