import { describeError } from '../errors.js';
import type { TaskContext } from '../steps/task-context.js';
import type { AttachmentRecord } from '../store/record.js';
import { isLive } from './conflicts.js';
import { type Host, openContext } from './host.js';
import { stepOf } from './plan.js';

/**
 * What a task's network needs of the service beside its records: the bridge, its connection to that, its DHCP clients.
 * A task of which these may be wrong is looked at under its lock, again and again until they are right. What is right is
 * not touched.
 */
export class Mending {
  private readonly doubtful = new Set<string>();
  private bridgeIndex: number | undefined;

  constructor(private readonly host: Host) {}

  /** Serves a task of before a restart on. */
  async adopt({ hash, taskId, linkLocal, credentials, credentialsId }: AttachmentRecord): Promise<void> {
    if (linkLocal !== null && credentials !== null && credentialsId !== null)
      this.host.credentials.adopt({ hash, taskId, id: credentialsId, address: linkLocal.address, credentials });
    this.doubtful.add(hash);
    await this.mend(hash);
    if (!this.doubtful.has(hash)) this.host.logger.info({ taskId }, 'adopted');
  }

  /** The tasks that run are connected to the bridge of now. */
  trustBridge(): void {
    this.bridgeIndex = this.host.bridge.bridgeIndex;
  }

  /** Mends the bridge, then the tasks in doubt. Throws when the bridge cannot be mended. */
  async look(stopping: AbortSignal): Promise<void> {
    await this.host.bridge.ensure();
    const { bridgeIndex } = this.host.bridge;
    // A bridge that was deleted took its ports along, or set them free: every task is to be connected again.
    if (bridgeIndex !== this.bridgeIndex)
      for (const record of this.host.records.all()) if (isLive(record)) this.doubtful.add(record.hash);
    this.bridgeIndex = bridgeIndex;
    for (const hash of this.doubtful) {
      if (stopping.aborted) return;
      await this.mend(hash);
    }
  }

  private async mend(hash: string): Promise<void> {
    const { records, operations, retries, logger } = this.host;
    const record = records.get(hash);
    if (record === undefined || !isLive(record)) return this.settle(hash);
    // What is under way may have begun with the bridge of before: looked at once it is over.
    if (record.state !== 'READY' || operations.get(hash) !== undefined) return;
    try {
      await operations.mend(hash, () => this.setRight(hash)).settled;
      this.settle(hash);
    } catch (error) {
      const reason = describeError(error);
      if (retries.failed(keyOf(hash), reason))
        logger.error({ taskId: record.taskId, reason }, 'a task is not wholly connected; it is tried again');
    }
  }

  private settle(hash: string): void {
    this.doubtful.delete(hash);
    this.host.retries.succeeded(keyOf(hash));
  }

  private async setRight(hash: string): Promise<void> {
    const context = openContext(this.host, hash, null, AbortSignal.abort());
    try {
      // The one may be right while the other is not.
      const results = await Promise.allSettled([this.reconnect(context), this.startClients(context)]);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    } finally {
      context.release();
    }
  }

  private async reconnect(context: TaskContext): Promise<void> {
    const { plan, taskId } = context.record;
    const port = stepOf(plan, 'connect-bridge');
    if (port === undefined || (await this.host.bridge.drift(port, context.openNamespace())).length === 0) return;
    this.host.logger.warn({ taskId }, "the task's connection to the bridge differs from its plan; repairing it");
    await this.host.handlers['connect-bridge'].do(port, context);
  }

  /** Those that run are left as they are. */
  private async startClients(context: TaskContext): Promise<void> {
    const dhcp = stepOf(context.record.plan, 'start-dhcp');
    if (dhcp !== undefined) await this.host.handlers['start-dhcp'].do(dhcp, context);
  }
}

const keyOf = (hash: string): string => `mend ${hash}`;
