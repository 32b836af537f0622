import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import { parseRecord } from './parse-record.js';
import type { AttachmentRecord } from './record.js';

interface Write {
  /** Set until it starts: whatever is saved meanwhile goes with it. */
  synced: boolean;
  readonly written: Promise<void>;
}

export interface DamagedFile {
  readonly file: string;
  readonly movedTo: string;
  readonly reason: string;
}

/**
 * One JSON file a task under `<state>/tasks`, named by the task's hash.
 * - What is saved with `synced` is on the disk when the promise resolves: file and folder entry both (fsync(2), rename(2)).
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

  /** Keeps the record in memory at once; on disk when the promise resolves, and through a power cut when `synced`. */
  save(record: AttachmentRecord, synced: boolean): Promise<void> {
    const { hash } = record;
    this.records.set(hash, record);
    const waiting = this.waiting.get(hash);
    if (waiting !== undefined) {
      waiting.synced ||= synced;
      return waiting.written;
    }
    const write: Write = { synced, written: this.inOrder(hash, () => this.write(hash, write)) };
    this.waiting.set(hash, write);
    return write.written;
  }

  private async write(hash: string, write: Write): Promise<void> {
    if (this.waiting.get(hash) === write) this.waiting.delete(hash);
    const { synced } = write;
    const latest = this.records.get(hash);
    if (latest === undefined) return;
    await writeFileAtomic(this.path(hash), `${JSON.stringify(latest)}\n`, { mode: 0o600, fsync: synced });
    if (synced) await this.syncFolder();
  }

  remove(hash: string): Promise<void> {
    this.records.delete(hash);
    // What is saved from now on is another record, to be written after this one is gone.
    this.waiting.delete(hash);
    return this.inOrder(hash, async () => {
      await rm(this.path(hash), { force: true });
      await this.syncFolder();
    });
  }

  /** Moves a record out of the way, e.g. one that another instance left in an image of its disk. */
  async setAside(hash: string, reason: string): Promise<void> {
    this.records.delete(hash);
    this.waiting.delete(hash);
    await this.moveAside(`${hash}.json`, reason);
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

  private async syncFolder(): Promise<void> {
    const folder = await open(this.tasksDir, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
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
