import { mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import { parseRecord } from './parse-record.js';
import type { AttachmentRecord } from './record.js';
import { syncFolder, writeAtomically } from './write-atomically.js';

/**
 * What a saved record outlives, and from when on.
 * - `soon`: it is on its way to the disk within `delay`, and there after `flush`.
 * - `crash`: an end of the service, when the promise resolves.
 * - `power-cut`: that too, when the promise resolves.
 */
export type Durability = 'soon' | 'crash' | 'power-cut';

interface Write {
  /** Raised until it starts: whatever is saved meanwhile goes with it. */
  synced: boolean;
  start(): void;
  readonly written: Promise<void>;
}

/** Milliseconds. Most attaches are over by then: of all that happened in them one write is left, the last. */
const delay = 100;

export interface DamagedFile {
  readonly file: string;
  readonly movedTo: string;
  readonly reason: string;
}

/**
 * One JSON file a task under `<state>/tasks`, named by the task's hash.
 * - What is saved for a power cut is on the disk when the promise resolves: file and folder entry both (fsync(2), rename(2)).
 * - Writes of one task keep their order, and each writes what is newest: one at work and one that waits are enough, so that
 *   who waits for the last of many changes waits for two writes.
 * - A file that cannot be read is moved aside and costs only itself.
 */
export class RecordStore {
  private readonly records = new Map<string, AttachmentRecord>();
  private readonly writes = new Map<string, Promise<void>>();
  private readonly waiting = new Map<string, Write>();
  readonly damaged: DamagedFile[] = [];
  /** Why the last write failed; null once one went through. For /readyz. */
  writeError: string | null = null;

  private constructor(
    private readonly stateDir: string,
    private readonly logger: Logger,
  ) {}

  static async open(stateDir: string, logger: Logger): Promise<RecordStore> {
    const store = new RecordStore(stateDir, logger);
    await mkdir(store.tasksDir, { recursive: true, mode: 0o700 });
    for (const file of await readdir(store.tasksDir)) {
      if (file.endsWith('.json')) await store.load(file);
      else await rm(join(store.tasksDir, file), { recursive: true, force: true });
    }
    return store;
  }

  all(): AttachmentRecord[] {
    return [...this.records.values()];
  }

  get(hash: string): AttachmentRecord | undefined {
    return this.records.get(hash);
  }

  /** Keeps the record in memory at once, and on disk as the durability says; the promise resolves once it is there. */
  save(record: AttachmentRecord, durability: Durability): Promise<void> {
    const { hash } = record;
    this.records.set(hash, record);
    const write = this.waiting.get(hash) ?? this.enqueue(hash);
    write.synced ||= durability === 'power-cut';
    if (durability !== 'soon') write.start();
    return write.written;
  }

  /** Resolves once everything saved so far is written; a write that fails has told whoever saved. */
  async flush(): Promise<void> {
    for (const write of this.waiting.values()) write.start();
    await Promise.all(this.writes.values());
  }

  private enqueue(hash: string): Write {
    let start = () => {};
    const due = new Promise<void>((resolve) => (start = resolve));
    const timer = setTimeout(start, delay);
    const written = this.inOrder(hash, async () => {
      await due;
      clearTimeout(timer);
      await this.write(hash, write);
    });
    const write: Write = { synced: false, start, written };
    this.waiting.set(hash, write);
    return write;
  }

  private async write(hash: string, write: Write): Promise<void> {
    if (this.waiting.get(hash) === write) this.waiting.delete(hash);
    const latest = this.records.get(hash);
    if (latest !== undefined) await writeAtomically(this.path(hash), `${JSON.stringify(latest)}\n`, write.synced);
  }

  remove(hash: string): Promise<void> {
    this.records.delete(hash);
    // What is saved from now on is another record, to be written after this one is gone.
    this.dropWaiting(hash);
    return this.inOrder(hash, async () => {
      await rm(this.path(hash), { force: true });
      await syncFolder(this.tasksDir);
    });
  }

  /** Moves a record out of the way, e.g. one that another instance left in an image of its disk. */
  async setAside(hash: string, reason: string): Promise<void> {
    this.records.delete(hash);
    this.dropWaiting(hash);
    await this.moveAside(`${hash}.json`, reason);
  }

  /** Nobody keeps a later write waiting for one that has nothing to write any more. */
  private dropWaiting(hash: string): void {
    this.waiting.get(hash)?.start();
    this.waiting.delete(hash);
  }

  private get tasksDir(): string {
    return join(this.stateDir, 'tasks');
  }

  private path(hash: string): string {
    return join(this.tasksDir, `${hash}.json`);
  }

  private async load(file: string): Promise<void> {
    try {
      const record = parseRecord(await readFile(join(this.tasksDir, file), 'utf8'));
      if (`${record.hash}.json` !== file) throw new Error(`it holds the record ${record.hash}`);
      this.records.set(record.hash, record);
    } catch (error) {
      await this.moveAside(file, describeError(error));
    }
  }

  private async moveAside(file: string, reason: string): Promise<void> {
    const folder = join(this.stateDir, `damaged-${new Date().toISOString().replaceAll(':', '')}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const movedTo = join(folder, file);
    await rename(join(this.tasksDir, file), movedTo);
    this.damaged.push({ file, movedTo, reason });
    this.logger.error({ file, movedTo, reason }, 'a state file was set aside; its task is an orphan if it still runs');
  }

  private inOrder(hash: string, write: () => Promise<void>): Promise<void> {
    const before = this.writes.get(hash) ?? Promise.resolve();
    const written = before.then(write).then(
      () => {
        this.writeError = null;
      },
      (error: unknown) => {
        this.writeError = describeError(error);
        throw error;
      },
    );
    // The next write of the task starts whatever became of this one, whose caller has the error.
    const settled = written.catch(() => this.writeError);
    const tail = settled.then(() => {
      if (this.writes.get(hash) === tail) this.writes.delete(hash);
    });
    this.writes.set(hash, tail);
    return written;
  }
}
