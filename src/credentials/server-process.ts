import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { LineReader } from './server/lines.js';
import { type Message, descriptors, formatMessage } from './server/messages.js';
import { type Report, parseReport, reportLineLimit } from './server/report.js';

/** Bytes, of reports and of output, in a second beyond which the process is not ours any more. */
const mostBytesASecond = 64 * 1024;
/** Milliseconds without a report, or with a message not carried out, after which it is taken for dead. */
const patience = 10_000;
const longestOutput = 2048;

interface Waiting {
  readonly seq: number;
  readonly since: number;
  readonly settle: (applied: boolean) => void;
}

/**
 * One run of the credentials server, seen from the control process. Tasks talk to it, so it counts as hostile: of what it
 * says only counters are taken, in lines of bounded size and number, and anything else ends it. It holds nothing that
 * grows here: its output is cut, and messages that it does not take end it too.
 */
export class ServerProcess {
  /** Resolves once it has ended, with why. */
  readonly ended: Promise<string>;
  /** Resolves to true once it listens, to false when it ends before. */
  readonly ready: Promise<boolean>;
  /** Whether it still answers what is sent. */
  alive = true;
  listening = false;
  private readonly messages: Writable;
  private readonly lines = new LineReader(reportLineLimit);
  private waiting: Waiting[] = [];
  private probes: Waiting[] = [];
  private seq = 0;
  private lastReport = performance.now();
  private bytes = 0;
  private output = '';
  private reason: string | undefined;
  private readonly watch: NodeJS.Timeout;
  private becomeReady: (listening: boolean) => void = () => {};

  constructor(
    private readonly child: ChildProcess,
    private readonly onReport: (report: Report) => void,
  ) {
    this.ready = new Promise((resolve) => (this.becomeReady = resolve));
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(this.end(error.message)));
      child.once('exit', (code, signal) => resolve(this.end(signal === null ? `exit code ${code}` : signal)));
    });
    this.watch = setInterval(() => this.check(), 1000);
    this.messages = child.stdio[descriptors.messages] as Writable;
    this.messages.on('error', () => this.kill());
    this.readReports(child.stdio[descriptors.reports] as Readable);
    this.keepOutput(child.stdout, child.stderr);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** What it last wrote on its standard output and error. */
  get lastWords(): string {
    return this.output;
  }

  /** Resolves to true once the message is carried out, to false when the process ended before. */
  send(message: Message): Promise<boolean> {
    return this.sendAndAwait(message, this.waiting);
  }

  /** Has the server fetch over its real address; false when that failed, or took longer than `milliseconds`. */
  async probe(milliseconds: number): Promise<boolean> {
    const answered = this.sendAndAwait({ do: 'probe' }, this.probes);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), milliseconds)));
    return Promise.race([answered, late]).finally(() => clearTimeout(timer));
  }

  /** Ends its pipe, upon which it writes its last audit lines and exits. */
  close(): void {
    this.messages.end();
  }

  /** Without a reason when it is on its way out by itself: a pipe of a process that dies may fail before its end is told. */
  kill(reason?: string): void {
    this.reason ??= reason;
    this.alive = false;
    this.child.kill('SIGKILL');
  }

  private sendAndAwait(message: Message, list: Waiting[]): Promise<boolean> {
    // One that is being killed may still answer a request; only its end is the end of what it knows.
    if (!this.alive) return this.ended.then(() => false);
    this.seq += 1;
    const seq = this.seq;
    this.messages.write(formatMessage(seq, message));
    return new Promise((settle) => list.push({ seq, since: performance.now(), settle }));
  }

  private readReports(reports: Readable): void {
    reports.setEncoding('utf8');
    reports.on('error', () => this.kill());
    reports.on('data', (chunk: string) => this.isBearable(chunk) && this.readLines(chunk));
  }

  /** Whether to listen to it still. */
  private isBearable(chunk: string): boolean {
    this.bytes += chunk.length;
    if (this.alive && this.bytes > mostBytesASecond) this.kill('it says too much');
    return this.alive;
  }

  private readLines(chunk: string): void {
    try {
      for (const line of this.lines.push(chunk)) this.take(line);
    } catch {
      this.kill('it says a line that is too long');
    }
  }

  private take(line: string): void {
    const report = parseReport(line);
    if (report === undefined || report.applied > this.seq || report.probed > this.seq) {
      this.kill('it says what no server says');
      return;
    }
    this.lastReport = performance.now();
    this.listening = report.listening;
    if (report.listening) this.becomeReady(true);
    this.waiting = settle(this.waiting, report.applied);
    this.probes = settle(this.probes, report.probed);
    this.onReport(report);
  }

  private check(): void {
    this.bytes = 0;
    const late = performance.now() - patience;
    // Probes that failed are never answered; whoever asked has stopped waiting.
    this.probes = this.probes.filter(({ since }) => since > late);
    if (this.lastReport < late) this.kill('it does not report');
    else if ((this.waiting[0]?.since ?? Infinity) < late) this.kill('it does not take what it is told');
  }

  private keepOutput(stdout: Readable | null, stderr: Readable | null): void {
    for (const stream of [stdout, stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (chunk: string) => {
        if (this.isBearable(chunk)) this.output = (this.output + chunk).slice(-longestOutput);
      });
    }
  }

  private end(how: string): string {
    this.alive = false;
    this.listening = false;
    this.becomeReady(false);
    clearInterval(this.watch);
    for (const { settle } of [...this.waiting, ...this.probes]) settle(false);
    this.waiting = [];
    this.probes = [];
    return this.reason === undefined ? how : `${how}: ${this.reason}`;
  }
}

/** Settles those whose turn has come; the list is in order. */
function settle(waiting: Waiting[], reached: number): Waiting[] {
  const next = waiting.findIndex(({ seq }) => seq > reached);
  const done = next === -1 ? waiting : waiting.slice(0, next);
  for (const entry of done) entry.settle(true);
  return next === -1 ? [] : waiting.slice(next);
}
