import { TaskEniError } from '../errors.js';
import type { AttachmentRecord } from '../store/record.js';
import { attach } from './attach.js';
import { deleteCredentials, putCredentials } from './change-credentials.js';
import { holds, isLive, isSameRequest, ownContainer, refuseEniInUse, refuseSameSandbox } from './conflicts.js';
import { detach } from './detach.js';
import { driftOf } from './drift.js';
import type { Host } from './host.js';
import { taskHash } from './names.js';
import type { Orphan } from './orphans.js';
import { pendingRecord } from './record-changes.js';
import type { AttachRequest, CredentialsRequest } from './request.js';
import type { TaskId } from './task-id.js';

export interface Begun {
  /** False when the task had the same request already, or it was under way. */
  readonly created: boolean;
  readonly record: AttachmentRecord;
  /** Resolves when READY; rejects with a {@link TaskEniError}. The attach goes on whoever listens. */
  readonly settled: Promise<AttachmentRecord>;
}

/** What the API asks for: a task's network is begun, looked at and undone here, under the task's lock. */
export class Attachments {
  private stopping = false;

  constructor(private readonly host: Host) {}

  begin(taskId: TaskId, request: AttachRequest): Begun {
    this.refuseWhenStopping();
    const hash = this.hashOf(taskId);
    const known = this.host.records.get(hash);
    const operation = this.host.operations.get(hash);
    if (operation?.kind === 'detach' || operation?.kind === 'undo')
      throw new TaskEniError('busy', 'the task is being detached', { taskId });
    if (known !== undefined && isLive(known)) return this.join(known, request);
    if (operation !== undefined)
      throw new TaskEniError('busy', 'what an earlier attach left is still being looked at', { taskId });
    if (known !== undefined && known.undoPending.length > 0)
      throw new TaskEniError('busy', 'what an earlier attach left on the host is still being undone', { taskId });
    return this.start(taskId, hash, request);
  }

  get(taskId: TaskId): AttachmentRecord | undefined {
    return this.host.records.get(this.hashOf(taskId));
  }

  list(): AttachmentRecord[] {
    return this.host.records.all();
  }

  onChange(listener: (record: AttachmentRecord) => void): () => void {
    return this.host.records.onChange(listener);
  }

  orphans(): readonly Orphan[] {
    return this.host.orphans.all();
  }

  /** What in the kernel differs from the task's plan; empty when nothing does. */
  async verify(taskId: TaskId): Promise<string[]> {
    return driftOf(this.host, this.known(taskId));
  }

  /** Undefined when the task has nothing. Cancels an attach under way; joins a detach that is. */
  async detach(taskId: TaskId, { force }: { force: boolean }): Promise<AttachmentRecord | undefined> {
    this.refuseWhenStopping();
    const hash = this.hashOf(taskId);
    const running = this.host.operations.get(hash);
    if (running?.kind === 'detach') return running.settled;
    if (running !== undefined) {
      running.abort(new TaskEniError('cancelled', 'a DELETE of the task came during its attach', { taskId }));
      await Promise.allSettled([running.settled]);
      return this.detach(taskId, { force });
    }
    if (!force) await this.refuseJoined(taskId);
    // Whoever came while Docker was asked has changed what is to be detached.
    if (this.host.operations.get(hash) !== undefined) return this.detach(taskId, { force });
    // And a stop, which nothing may be begun after.
    this.refuseWhenStopping();
    const record = this.host.records.get(hash);
    // A POST that failed before it had an orphan's place has left a record that says nothing of it.
    const isOrphan = (record === undefined || !holds(record)) && this.host.orphans.adopt(taskId, hash);
    if (record === undefined && !isOrphan) return undefined;
    return this.host.operations.run(hash, 'detach', () => detach(this.host, hash)).settled;
  }

  /** Under the task's lock: a DELETE that comes meanwhile waits, so that what it takes away stays away. */
  async putCredentials(taskId: TaskId, credentials: CredentialsRequest): Promise<AttachmentRecord> {
    return this.changeCredentials(taskId, (record) => putCredentials(this.host, record, credentials));
  }

  async deleteCredentials(taskId: TaskId): Promise<void> {
    await this.changeCredentials(taskId, (record) => deleteCredentials(this.host, record));
  }

  /** Ends what waits with `shutting-down`, gives what is under way up to eight seconds, and leaves running tasks as they are. */
  async stop(): Promise<void> {
    this.stopping = true;
    const reason = shuttingDown();
    this.host.operations.close(reason);
    for (const record of this.host.records.all())
      if (record.state === 'PENDING') this.host.operations.get(record.hash)?.abort(reason);
    if (await this.host.operations.drain(5000)) return;
    for (const operation of this.host.operations.all()) operation.abort(reason);
    await this.host.operations.drain(3000);
  }

  private hashOf(taskId: TaskId): string {
    return taskHash(this.host.settings.instance, taskId);
  }

  private known(taskId: TaskId): AttachmentRecord {
    const record = this.get(taskId);
    if (record === undefined) throw new TaskEniError('task-not-found', `${taskId} has no network`, { taskId });
    return record;
  }

  private async changeCredentials(
    taskId: TaskId,
    change: (record: AttachmentRecord) => Promise<AttachmentRecord>,
  ): Promise<AttachmentRecord> {
    this.refuseWhenStopping();
    const hash = this.hashOf(taskId);
    // Neither takes the task away: whoever comes meanwhile is next.
    for (let running = this.host.operations.get(hash); running?.kind === 'credentials' || running?.kind === 'mend';) {
      await Promise.allSettled([running.settled]);
      running = this.host.operations.get(hash);
    }
    const record = this.readyTask(taskId);
    if (this.host.operations.get(hash) !== undefined)
      throw new TaskEniError('busy', 'another operation on the task is under way', { taskId });
    return this.host.operations.run(hash, 'credentials', () => change(record)).settled;
  }

  private readyTask(taskId: TaskId): AttachmentRecord {
    const record = this.known(taskId);
    if (record.state !== 'READY') throw new TaskEniError('busy', `the task is ${record.state}, not READY`, { taskId });
    return record;
  }

  private join(record: AttachmentRecord, request: AttachRequest): Begun {
    const { taskId, hash } = record;
    if (record.state === 'DETACHING') throw new TaskEniError('busy', 'the task is being detached', { taskId });
    if (!isSameRequest(record, request))
      throw new TaskEniError('task-exists', 'the task has a network made from another request', { taskId });
    const operation = this.host.operations.get(hash);
    if (operation?.kind === 'attach') return { created: false, record, settled: operation.settled };
    const pushed = request.credentials?.source === 'pushed' ? request.credentials : null;
    const settled = pushed === null ? Promise.resolve(record) : this.putCredentials(taskId, pushed);
    return { created: false, record, settled };
  }

  private start(taskId: TaskId, hash: string, request: AttachRequest): Begun {
    const others = this.host.records.all().filter((record) => record.hash !== hash && holds(record));
    refuseEniInUse(others, request.eni);
    refuseSameSandbox(others, request.sandbox);
    const { bootId, identity, settings } = this.host;
    const { instanceId, region } = identity.known;
    const record = pendingRecord({
      taskId,
      hash,
      bootId,
      instanceId,
      region: settings.region ?? region,
      request,
      now: Date.now(),
    });
    const { settled } = this.host.operations.run(hash, 'attach', (signal) => {
      this.host.records.begin(record);
      return attach(this.host, hash, request, signal);
    });
    return { created: true, record, settled };
  }

  private async refuseJoined(taskId: TaskId): Promise<void> {
    const record = this.get(taskId);
    const container = (record && ownContainer(record)) ?? this.host.orphans.containerOf(this.hashOf(taskId));
    const joined = container === undefined ? [] : await this.host.sandboxes.docker.joined(container);
    if (joined.length === 0) return;
    const detail = `${joined.length} container(s) use the sandbox's network: ${joined.map((id) => id.slice(0, 12)).join(', ')}`;
    throw new TaskEniError('containers-joined', detail, { taskId });
  }

  private refuseWhenStopping(): void {
    if (this.stopping) throw shuttingDown();
  }
}

function shuttingDown(): TaskEniError {
  return new TaskEniError('shutting-down', 'the service is stopping; the request can be sent again');
}
