import { write } from 'node:fs';

type Write = typeof write;

/** Characters after which lines are written without waiting for the timer. */
const flushAt = 64 * 1024;
/** Milliseconds that a line waits for others at most. */
const flushAfter = 50;
/** Characters that wait for a slow disk; lines beyond are dropped. */
const mostPending = 1024 * 1024;

/**
 * Lines for a descriptor that was opened for appending, gathered so that a request never waits for the disk: one write is
 * under way at a time, what comes meanwhile waits in a bounded buffer, and what does not fit or is not written is counted.
 */
export class AuditLog {
  private pending = '';
  private pendingLines = 0;
  private writing = false;
  private torn = false;
  private timer: NodeJS.Timeout | undefined;
  private idle: (() => void)[] = [];

  constructor(
    private readonly descriptor: number,
    private readonly onDropped: (lines: number) => void,
    private readonly writeTo: Write = write,
  ) {}

  log(line: string): void {
    if (this.pending.length + line.length > mostPending) {
      this.onDropped(1);
      return;
    }
    this.pending += line;
    this.pendingLines += 1;
    this.schedule();
  }

  /** Resolves once nothing waits to be written. */
  async drained(): Promise<void> {
    this.flush();
    while (this.writing) {
      await new Promise<void>((resolve) => this.idle.push(resolve));
      this.flush();
    }
  }

  private schedule(): void {
    if (this.pending.length >= flushAt) this.flush();
    else if (this.pending !== '') this.timer ??= setTimeout(() => this.flush(), flushAfter);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.writing || this.pending === '') return;
    // A line cut short by a full disk is ended first, so that it spoils none but itself.
    const bytes = Buffer.from(this.torn ? `\n${this.pending}` : this.pending);
    const lines = this.pendingLines;
    this.pending = '';
    this.pendingLines = 0;
    this.writing = true;
    this.writeFrom(bytes, 0, lines);
  }

  private writeFrom(bytes: Buffer, from: number, lines: number): void {
    this.writeTo(this.descriptor, bytes, from, bytes.length - from, null, (error, written) => {
      const done = from + (error === null ? written : 0);
      if (error === null && written > 0 && done < bytes.length) return this.writeFrom(bytes, done, lines);
      const lost = countLines(bytes.subarray(done));
      if (lost > 0) this.onDropped(Math.min(lost, lines));
      this.torn = done === 0 ? this.torn : bytes[done - 1] !== newline;
      this.writing = false;
      this.schedule();
      for (const resolve of this.idle.splice(0)) resolve();
    });
  }
}

const newline = 0x0a;

function countLines(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (byte === newline ? count + 1 : count), 0);
}
