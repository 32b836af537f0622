import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import type { AttachmentRecord, RecordedError, State } from '../store/record.js';
import type { RecordStore } from '../store/record-store.js';

type Listener = (record: AttachmentRecord) => void;

/** The records as the service works with them: each change is kept, and told to whoever listens. */
export class TaskRecords {
  private readonly listeners = new Set<Listener>();

  constructor(
    private readonly store: RecordStore,
    private readonly logger: Logger,
  ) {}

  all(): AttachmentRecord[] {
    return this.store.all();
  }

  get(hash: string): AttachmentRecord | undefined {
    return this.store.get(hash);
  }

  /** The record of a task that is known to have one. */
  of(hash: string): AttachmentRecord {
    const record = this.store.get(hash);
    if (record === undefined) throw new Error(`no record ${hash}`);
    return record;
  }

  /** Keeps the record, through a power cut, before the promise resolves: for what must be known before the host is changed. */
  async commit(record: AttachmentRecord): Promise<void> {
    const written = this.store.save(record, 'power-cut');
    this.tell(record);
    await written;
  }

  /** Takes up a task of which nothing is on the host yet. */
  begin(record: AttachmentRecord): void {
    this.write(record);
    this.tell(record);
  }

  /** Keeps a change that undo could do without; it is on its way to the disk. */
  patch(hash: string, change: Partial<AttachmentRecord>): AttachmentRecord {
    const before = this.of(hash);
    const record = { ...before, ...change };
    this.write(record);
    if (record.state !== before.state || record.eni !== before.eni) this.tell(record);
    return record;
  }

  /** Forgets the task; `last` is its final word. */
  async drop(last: AttachmentRecord): Promise<void> {
    const removed = this.store.remove(last.hash);
    this.tell(last);
    await removed;
  }

  setAside(hash: string, reason: string): Promise<void> {
    return this.store.setAside(hash, reason);
  }

  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Tells of a change in what is shown with the record (its lease, its credentials). */
  touch(hash: string): void {
    const record = this.get(hash);
    if (record !== undefined) this.tell(record);
  }

  /** Keeps a change that undo needs after a crash of the service: with the kernel when the promise resolves. */
  async keep(hash: string, change: Partial<AttachmentRecord>): Promise<void> {
    await this.store.save({ ...this.of(hash), ...change }, 'crash');
  }

  private write(record: AttachmentRecord): void {
    this.store.save(record, 'soon').catch((error: unknown) => {
      this.logger.warn({ taskId: record.taskId, reason: describeError(error) }, 'a record could not be written');
    });
  }

  private tell(record: AttachmentRecord): void {
    for (const listener of this.listeners) {
      try {
        listener(record);
      } catch (error) {
        this.logger.error({ reason: describeError(error) }, 'a listener of task changes failed');
      }
    }
  }
}

/** The record of a task whose network ended other than by DELETE. */
export function endedRecord(
  record: AttachmentRecord,
  state: Extract<State, 'FAILED' | 'LOST'>,
  error: RecordedError,
  undoPending: AttachmentRecord['undoPending'],
): AttachmentRecord {
  return { ...record, state, error, undoPending, endedAt: Date.now() };
}
