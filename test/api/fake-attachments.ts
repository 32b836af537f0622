import type { TaskId } from '../../src/attachments/task-id.js';
import type { AttachRequest, CredentialsRequest } from '../../src/attachments/request.js';
import { TaskEniError } from '../../src/errors.js';
import type { AttachmentRecord } from '../../src/store/record.js';
import { pendingRecord, readyRecord } from '../unit/api/sample-record.js';

/** Attachments without a host: what it is asked is kept, and a test says how each attach ends. */
export class FakeAttachments {
  readonly requests: AttachRequest[] = [];
  readonly forced: boolean[] = [];
  readonly pushed: CredentialsRequest[] = [];
  /** Thrown by every call while it is set. */
  failure: unknown;
  drift: string[] = [];
  private readonly records = new Map<TaskId, AttachmentRecord>();
  private readonly waiting = new Map<TaskId, PromiseWithResolvers<AttachmentRecord>>();
  private readonly listeners = new Set<(record: AttachmentRecord) => void>();

  begin(taskId: TaskId, request: AttachRequest) {
    this.fail();
    this.requests.push(request);
    const known = this.records.get(taskId);
    const settled = (this.waiting.get(taskId) ?? deferred()).promise;
    if (known?.state === 'READY') return { created: false, record: known, settled: Promise.resolve(known) };
    if (known !== undefined) return { created: false, record: known, settled };
    const waiter = deferred();
    this.waiting.set(taskId, waiter);
    const record = { ...pendingRecord, taskId, hash: taskId, request: { ...request, credentials: null } };
    this.put(record);
    return { created: true, record, settled: waiter.promise };
  }

  /** Ends the attach of a task. */
  becomeReady(taskId: TaskId): void {
    const request = this.records.get(taskId)?.request ?? readyRecord.request;
    const record = { ...readyRecord, taskId, hash: taskId, request };
    this.put(record);
    this.waiting.get(taskId)?.resolve(record);
  }

  becomeFailed(taskId: TaskId, error: TaskEniError): void {
    const record = this.records.get(taskId) ?? pendingRecord;
    this.put({
      ...record,
      state: 'FAILED',
      error: { code: error.code, detail: error.detail, step: error.step ?? null },
    });
    this.waiting.get(taskId)?.reject(error);
  }

  put(record: AttachmentRecord): void {
    this.records.set(record.taskId, record);
    for (const listener of this.listeners) listener(record);
  }

  get(taskId: TaskId): AttachmentRecord | undefined {
    this.fail();
    return this.records.get(taskId);
  }

  list(): AttachmentRecord[] {
    this.fail();
    return [...this.records.values()];
  }

  async verify(): Promise<string[]> {
    return this.drift;
  }

  async detach(taskId: TaskId, { force }: { force: boolean }): Promise<AttachmentRecord | undefined> {
    this.fail();
    this.forced.push(force);
    const record = this.records.get(taskId);
    if (record === undefined) return undefined;
    const detached = { ...record, state: 'DETACHED' as const };
    this.put(detached);
    this.records.delete(taskId);
    return detached;
  }

  async putCredentials(taskId: TaskId, credentials: CredentialsRequest): Promise<AttachmentRecord> {
    this.pushed.push(credentials);
    return this.known(taskId);
  }

  async deleteCredentials(taskId: TaskId): Promise<void> {
    this.known(taskId);
  }

  onChange(listener: (record: AttachmentRecord) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private known(taskId: TaskId): AttachmentRecord {
    const record = this.records.get(taskId);
    if (record === undefined) throw new TaskEniError('task-not-found', `${taskId} has no network`, { taskId });
    return record;
  }

  private fail(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

function deferred(): PromiseWithResolvers<AttachmentRecord> {
  let resolve: (record: AttachmentRecord) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<AttachmentRecord>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
