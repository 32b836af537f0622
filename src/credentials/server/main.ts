/**
 * The credentials server: the one process that tasks can talk to. It is born as root in the bridge's namespace, with all
 * its code loaded it becomes nobody, and only then reads what it is to serve. It can open nothing by itself: its socket,
 * its pipes and the audit log's descriptor are handed to it. It ends with its parent's end of the pipe.
 */
import { Socket } from 'node:net';
import { AuditLog } from './audit-log.js';
import { Counters } from './counters.js';
import { HttpServer } from './http-server.js';
import { Limiter } from './limiter.js';
import { LineReader } from './lines.js';
import { type Configuration, type NumberedMessage, descriptors, messageLineLimit, parseMessage } from './messages.js';
import { dropPrivileges } from './privileges.js';
import { probe } from './probe.js';
import { formatReport } from './report.js';
import { CredentialsTable } from './table.js';

const reportEvery = 1000;
/** Milliseconds for connections to end after another process has taken over, and for the audit log to be written at the end. */
const drainPatience = 10_000;
const auditPatience = 200;

/** A message of an error may quote what it stumbled over, so only its kind and place are said. */
function crash(error: unknown): never {
  const stack = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  process.stderr.write(`${error instanceof Error ? error.name : typeof error}\n${stack.slice(0, 10).join('\n')}\n`);
  process.exit(1);
}

class CredentialsProcess {
  private readonly counters = new Counters();
  private readonly table = new CredentialsTable();
  private readonly lines = new LineReader(messageLineLimit);
  private readonly reports = new Socket({ fd: descriptors.reports, readable: false, writable: true });
  private configuration: Configuration | undefined;
  private limiter: Limiter | undefined;
  private http: HttpServer | undefined;
  private audit: AuditLog | null = null;

  start(): void {
    const messages = new Socket({ fd: descriptors.messages, readable: true, writable: false });
    messages.setEncoding('utf8');
    messages.on('data', (chunk: string) => this.receive(chunk));
    messages.once('close', () => void this.end());
    messages.once('error', crash);
    this.reports.on('error', () => void this.end());
    setInterval(() => this.report(), reportEvery);
  }

  private receive(chunk: string): void {
    for (const line of this.lines.push(chunk)) this.apply(parseMessage(line));
    this.report();
  }

  /** Applies at once what changes the answers; what takes time reports again when it is done. */
  private apply(message: NumberedMessage): void {
    if (message.do === 'configure') this.configure(message.configuration);
    else if (message.do === 'put') this.table.put(message.entry);
    else if (message.do === 'forget') this.forget(message.id);
    else if (message.do === 'complete') this.table.complete = true;
    else if (message.do === 'listen') void this.listen().catch(crash);
    else if (message.do === 'probe') void this.probe(message.seq).catch(crash);
    else void this.drain().catch(crash);
    this.counters.applied = message.seq;
  }

  private configure(configuration: Configuration): void {
    const { counters, table } = this;
    this.configuration = configuration;
    if (configuration.audit) this.audit = new AuditLog(descriptors.audit, (lines) => counters.dropAudit(lines));
    this.limiter = new Limiter(configuration.rate);
    this.http = new HttpServer({ table, limiter: this.limiter, counters, audit: this.audit, own: configuration.host });
  }

  private forget(id: string): void {
    const address = this.table.forget(id);
    if (address !== undefined) this.limiter?.forget(address);
  }

  private async listen(): Promise<void> {
    await this.http?.listen(descriptors.listener);
    this.counters.listening = true;
    this.report();
  }

  private async probe(seq: number): Promise<void> {
    if (this.configuration === undefined || !(await probe(this.configuration.host, this.configuration.port))) return;
    this.counters.probed = seq;
    this.report();
  }

  private async drain(): Promise<void> {
    setTimeout(() => void this.end(), drainPatience);
    await this.http?.drain();
    await this.end();
  }

  /** Waits for its turn when the parent is slow to read: the counts go on meanwhile. */
  private report(): void {
    if (!this.reports.writableNeedDrain) this.reports.write(formatReport(this.counters.take()));
  }

  private async end(): Promise<void> {
    setTimeout(() => process.exit(0), auditPatience);
    await this.audit?.drained();
    this.report();
    this.reports.end(() => process.exit(0));
  }
}

process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
// Unhandled, SIGUSR1 opens Node's inspector, and every process of nobody may send it. The others reach whole groups of processes: the parent acts on them.
for (const signal of ['SIGUSR1', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
try {
  await dropPrivileges();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'privileges were not dropped'}\n`);
  process.exit(1);
}
new CredentialsProcess().start();
