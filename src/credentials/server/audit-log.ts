import { write } from 'node:fs';

type Write = typeof write;

interface Chunk {
  /** The first byte is a newline, written only after a line that was cut short. */
  readonly bytes: Buffer;
  used: number;
  lines: number;
}

/** Bytes after which lines are written without waiting for the timer. */
const chunkSize = 64 * 1024;
/** Chunks that wait for a slow disk; lines beyond are dropped. */
const mostWaiting = 16;
/** Milliseconds that a line waits for others at most. */
const flushAfter = 50;
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const widest = 3;
const newline = 0x0a;

/**
 * Lines for a descriptor that was opened for appending, gathered so that a request never waits for the disk: one write is
 * under way at a time, what comes meanwhile waits in a bounded number of chunks, and what does not fit or is not written
 * is counted. Lines become bytes at once: as strings they would live long enough to keep the garbage collector busy.
 */
export class AuditLog {
  private filling = newChunk();
  private readonly waiting: Chunk[] = [];
  private readonly spare: Chunk[] = [];
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
    if (this.filling.used + line.length * widest > chunkSize && !this.seal()) {
      this.onDropped(1);
      return;
    }
    const chunk = this.filling;
    chunk.used += chunk.bytes.write(line, chunk.used);
    chunk.lines += 1;
    this.timer ??= setTimeout(() => this.flush(), flushAfter);
  }

  /** Resolves once nothing waits to be written. */
  async drained(): Promise<void> {
    this.flush();
    while (this.writing) {
      await new Promise<void>((resolve) => this.idle.push(resolve));
      this.flush();
    }
  }

  /** What comes while a write is under way is written after it, for it does not get to the disk sooner by itself. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.writing && this.filling.lines > 0) this.seal();
  }

  /** Puts the chunk aside to be written; false when too many wait. */
  private seal(): boolean {
    if (this.waiting.length >= mostWaiting) return false;
    this.waiting.push(this.filling);
    this.filling = this.spare.pop() ?? newChunk();
    if (!this.writing) this.writeNext();
    return true;
  }

  private writeNext(): void {
    const chunk = this.waiting.shift();
    this.writing = chunk !== undefined;
    if (chunk !== undefined) this.writeFrom(chunk, this.torn ? 0 : 1);
    else if (this.filling.lines > 0) this.timer ??= setTimeout(() => this.flush(), flushAfter);
  }

  private writeFrom(chunk: Chunk, from: number): void {
    const { bytes, used } = chunk;
    this.writeTo(this.descriptor, bytes, from, used - from, null, (error, written) => {
      const done = from + (error === null ? written : 0);
      if (done > from) this.torn = bytes[done - 1] !== newline;
      if (done > from && done < used) return this.writeFrom(chunk, done);
      if (done < used) this.onDropped(Math.min(chunk.lines, countLines(bytes.subarray(done, used))));
      this.reuse(chunk);
      this.writeNext();
      for (const resolve of this.idle.splice(0)) resolve();
    });
  }

  private reuse(chunk: Chunk): void {
    chunk.used = 1;
    chunk.lines = 0;
    if (this.spare.length === 0) this.spare.push(chunk);
  }
}

function newChunk(): Chunk {
  const bytes = Buffer.allocUnsafe(chunkSize);
  bytes[0] = newline;
  return { bytes, used: 1, lines: 0 };
}

function countLines(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (byte === newline ? count + 1 : count), 0);
}
