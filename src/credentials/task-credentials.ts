import type { Logger } from 'pino';
import type { Ipv4 } from '../addresses/cidr.js';
import type {
  AssumeRoleRequest,
  CredentialsIdentity,
  CredentialsRequest,
  PushedCredentials,
} from '../attachments/request.js';
import type { TaskId } from '../attachments/task-id.js';
import { TaskEniError, describeError } from '../errors.js';
import type { CredentialsServer } from './credentials-server.js';
import { FetchQueue } from './fetch-queue.js';
import type { PushedStore } from './pushed-store.js';
import { pushedCredentials } from './pushed.js';
import { nextSlot } from './refresh.js';
import { type RefreshOutcome, RoleCredentials } from './role-credentials.js';
import type { ServedCredentials } from './server/messages.js';
import type { StsSource } from './sts.js';

/** Which id the task fetches with, and the address its requests come from. */
export interface CredentialsHolder {
  readonly taskId: TaskId;
  readonly hash: string;
  readonly id: string;
  readonly address: Ipv4;
}

export interface TaskCredentialsParts {
  readonly server: Pick<CredentialsServer, 'put' | 'forget' | 'complete'>;
  readonly source: Pick<StsSource, 'assume'>;
  readonly store: Pick<PushedStore, 'keep' | 'load' | 'discard' | 'discardOthers'>;
  readonly logger: Logger;
  readonly onRefresh: (outcome: RefreshOutcome) => void;
}

interface Task {
  readonly holder: CredentialsHolder;
  /** Aborted once the task is another's business. */
  readonly gone: AbortController;
  credentials: ServedCredentials | null;
  role: RoleCredentials | undefined;
}

/** Requests that STS has from this host at a time for tasks that run already. */
const mostFetches = 8;

/**
 * Which task has which credentials, and where they come from.
 *
 * - A task is known to the server under one id and one address, from `register` or `adopt` to `unregister`.
 * - When `clear` or `unregister` resolves, no fetch is answered with the credentials any more, and STS is asked no more.
 * - What comes late, from STS or from the disk, for a task that has changed meanwhile, is dropped.
 */
export class TaskCredentials {
  private readonly tasks = new Map<string, Task>();
  private readonly queue = new FetchQueue(mostFetches);
  private lastSlot = 0;

  constructor(private readonly parts: TaskCredentialsParts) {}

  /**
   * Resolves once the server answers with the credentials. Throws `credentials-refused`, `credentials-timeout`,
   * `invalid-request` for incomplete pushed ones, or `step-failed`; the task is unknown then.
   */
  async register(holder: CredentialsHolder & { readonly credentials: CredentialsRequest }): Promise<void> {
    await this.unregister(holder.hash);
    const task = this.enter(holder);
    try {
      // Until the credentials are there, the task's fetches are told to come again rather than that nobody has the id.
      await Promise.all([this.put(task), this.obtain(task, holder.credentials)]);
    } catch (error) {
      await this.unregister(holder.hash);
      throw error;
    }
  }

  /** Makes a task of before a restart known: its fetches are answered 503 until its credentials are there again. */
  adopt(holder: CredentialsHolder & { readonly credentials: CredentialsIdentity }): void {
    const task = this.enter(holder);
    const { credentials } = holder;
    void this.put(task).catch((error: unknown) => this.warn(task, error));
    if (credentials.source === 'pushed') void this.restore(task);
    else this.resume(task, credentials);
  }

  /** Replaces the credentials once the new ones are there; those of before are served until then, and when it throws. */
  async update(hash: string, credentials: CredentialsRequest): Promise<void> {
    const task = this.tasks.get(hash);
    if (task === undefined) throw new TaskEniError('task-not-found', 'The task has no credentials to replace');
    await this.obtain(task, credentials);
  }

  /** Takes the credentials away: the next fetch is refused as if the id were nobody's, until an `update`. */
  async clear(hash: string): Promise<void> {
    const task = this.leave(hash);
    if (task === undefined) return;
    this.enter(task.holder);
    await this.revoke(task);
  }

  /** Resolves once the server has forgotten the task, so that its address can be another's. */
  async unregister(hash: string): Promise<void> {
    const task = this.leave(hash);
    if (task !== undefined) await this.revoke(task);
  }

  /**
   * To be called once every task of before a restart is adopted: ids of others are refused from then on, and not told to
   * come again, and what earlier runs kept for others is removed.
   */
  async discardOthers(): Promise<void> {
    await this.parts.server.complete();
    await this.parts.store.discardOthers(new Set(this.tasks.keys()));
  }

  /** Milliseconds since the epoch; null while there are none. */
  expiration(hash: string): number | null {
    return this.tasks.get(hash)?.credentials?.expiration ?? null;
  }

  /** The first of all expirations, in milliseconds since the epoch; null without any. */
  earliestExpiry(): number | null {
    const expirations = [...this.tasks.keys()].flatMap((hash) => this.expiration(hash) ?? []);
    return expirations.length === 0 ? null : Math.min(...expirations);
  }

  /** Asks STS no more. What is served goes on being served until the server stops. */
  stop(): void {
    for (const task of this.tasks.values()) task.gone.abort();
  }

  private enter({ taskId, hash, id, address }: CredentialsHolder): Task {
    const holder = { taskId, hash, id, address };
    const task: Task = { holder, gone: new AbortController(), credentials: null, role: undefined };
    this.tasks.set(hash, task);
    return task;
  }

  private leave(hash: string): Task | undefined {
    const task = this.tasks.get(hash);
    this.tasks.delete(hash);
    task?.gone.abort();
    return task;
  }

  private async revoke({ holder }: Task): Promise<void> {
    await Promise.all([this.parts.server.forget(holder.id), this.parts.store.discard(holder.hash)]);
  }

  private async obtain(task: Task, credentials: CredentialsRequest): Promise<void> {
    try {
      if (credentials.source === 'pushed') await this.take(task, credentials);
      else await this.assume(task, credentials);
    } catch (error) {
      if (!task.gone.signal.aborted) throw error;
    }
    if (task.gone.signal.aborted) throw new TaskEniError('cancelled', 'The credentials were taken away meanwhile');
  }

  private async take(task: Task, pushed: PushedCredentials): Promise<void> {
    const credentials = pushedCredentials(pushed, task.holder.taskId);
    const kept = await this.parts.store.keep(task.holder.hash, credentials);
    if (task.gone.signal.aborted) return this.parts.store.discard(task.holder.hash);
    task.role?.stop();
    task.role = undefined;
    if (!kept)
      this.parts.logger.debug({ taskId: task.holder.taskId }, 'pushed credentials will not outlive the service');
    await this.serve(task, credentials);
  }

  private async assume(task: Task, request: AssumeRoleRequest): Promise<void> {
    const role = this.createRole(task, request);
    const credentials = await role.begin();
    task.role?.stop();
    task.role = role;
    await Promise.all([this.serve(task, credentials), this.parts.store.discard(task.holder.hash)]);
  }

  private createRole(task: Task, role: AssumeRoleRequest): RoleCredentials {
    const { source, logger, onRefresh: onOutcome } = this.parts;
    const publish = (fresh: ServedCredentials) => {
      this.serve(task, fresh).catch((error: unknown) => this.warn(task, error));
    };
    const { queue } = this;
    const { signal } = task.gone;
    return new RoleCredentials({ taskId: task.holder.taskId, role, source, queue, logger, onOutcome, publish, signal });
  }

  private resume(task: Task, request: AssumeRoleRequest): void {
    this.lastSlot = nextSlot(Date.now(), this.lastSlot);
    task.role = this.createRole(task, request);
    task.role.resume(this.lastSlot - Date.now());
  }

  /** Brings back what was pushed before the restart, unless something newer has come. */
  private async restore(task: Task): Promise<void> {
    try {
      const credentials = await this.parts.store.load(task.holder.hash);
      const newer = task.gone.signal.aborted || task.credentials !== null || task.role !== undefined;
      if (credentials !== undefined && !newer) await this.serve(task, credentials);
    } catch (error) {
      this.warn(task, error);
    }
  }

  private async serve(task: Task, credentials: ServedCredentials): Promise<void> {
    task.credentials = credentials;
    await this.put(task);
  }

  private async put(task: Task): Promise<void> {
    if (task.gone.signal.aborted) return;
    const { id, taskId, address } = task.holder;
    await this.parts.server.put({ id, taskId, address, credentials: task.credentials });
  }

  private warn(task: Task, error: unknown): void {
    const { taskId } = task.holder;
    this.parts.logger.warn({ taskId, problem: describeError(error) }, 'credentials are not served');
  }
}
