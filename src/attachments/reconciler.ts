import { describeError } from '../errors.js';
import type { AttachmentRecord } from '../store/record.js';
import { detach, release, retryUndo, undoInterrupted } from './detach.js';
import { learnedIpv6Gateway } from '../eni/configure.js';
import type { TaskContext } from '../steps/task-context.js';
import { type Host, openContext } from './host.js';
import type { Operation } from './operations.js';
import { stepOf } from './plan.js';
import { type Decision, decideAtStart, decideWhileRunning, isOutlived } from './reconcile.js';

/** Milliseconds between two looks at the tasks' sandboxes: half of how long a task that ended may go unnoticed, and less. */
const lookEvery = 3000;

/** Brings records and host together: once at start, and then whenever something may have changed. */
export class Reconciler {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private again = false;
  private stopped = false;
  private knowsOrphans = false;
  private bridgeIndex: number | undefined;

  constructor(private readonly host: Host) {}

  /** Takes up what earlier runs left: live tasks are served on, half-done ones undone in the background. */
  async start(): Promise<void> {
    const { instanceId } = await this.host.identity.read();
    await this.host.dhcp.sweepLeftovers(new Set(this.host.records.all().map(({ hash }) => hash)));
    for (const record of this.host.records.all())
      await this.settle(record, instanceId).catch((error: unknown) => {
        const { taskId, linkLocal, hash } = record;
        if (linkLocal !== null) this.host.pool.claim(linkLocal.address, hash);
        this.host.logger.error({ taskId, reason: describeError(error) }, 'a record could not be judged at start');
      });
    await this.lookForOrphans();
    this.bridgeIndex = this.host.bridge.bridgeIndex;
    await this.host.credentials.discardOthers();
    this.timer = setInterval(() => this.look(), lookEvery);
  }

  /** Looks at every task soon; a look under way is followed by another. */
  look(): void {
    if (this.stopped) return;
    if (this.looking !== undefined) {
      this.again = true;
      return;
    }
    this.looking = this.lookOnce().finally(() => {
      this.looking = undefined;
      if (this.again) this.look();
      this.again = false;
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.looking;
  }

  private async settle(record: AttachmentRecord, instanceId: string | null): Promise<void> {
    const alive = await this.isAlive(record);
    const { bootId } = this.host;
    const decision = decideAtStart(record, { bootId, instanceId, sandboxAlive: () => alive });
    const address = record.linkLocal?.address;
    const holds = decision !== 'keep' && decision !== 'set-aside';
    if (holds && address !== undefined) this.host.pool.claim(address, record.hash);
    await this.carryOut(decision, record);
  }

  /** Docker may be down for longer than the service: what cannot be looked at now is looked at later, and stays till then. */
  private async lookForOrphans(): Promise<void> {
    try {
      await this.host.orphans.look();
      this.knowsOrphans = true;
    } catch (error) {
      this.host.logger.warn({ reason: describeError(error) }, 'orphans could not be looked for; it is tried again');
    }
  }

  private async lookOnce(): Promise<void> {
    if (!this.knowsOrphans) await this.lookForOrphans();
    await this.mendBridge().catch((error: unknown) => {
      this.host.logger.error({ reason: describeError(error) }, 'the bridge could not be mended; it is tried again');
    });
    const idle = this.host.records.all().filter(({ hash }) => this.host.operations.get(hash) === undefined);
    for (const record of idle) {
      try {
        await this.lookAt(record);
      } catch (error) {
        this.host.logger.error(
          { taskId: record.taskId, reason: describeError(error) },
          'a task could not be looked at',
        );
      }
    }
  }

  /** A bridge that was deleted took its ports along, or set them free: every task is connected again. */
  private async mendBridge(): Promise<void> {
    await this.host.bridge.ensure();
    const { bridgeIndex } = this.host.bridge;
    if (bridgeIndex === this.bridgeIndex) return;
    for (const record of this.host.records.all()) {
      if (record.state !== 'READY' || this.host.operations.get(record.hash) !== undefined) continue;
      const context = openContext(this.host, record.hash, null, AbortSignal.abort());
      try {
        await this.reconnect(record, context);
      } catch (error) {
        const { taskId } = record;
        this.host.logger.error({ taskId, reason: describeError(error) }, 'a task could not be connected again');
      } finally {
        context.release();
      }
    }
    this.bridgeIndex = bridgeIndex;
  }

  private async reconnect({ plan, taskId }: AttachmentRecord, context: TaskContext): Promise<void> {
    const port = stepOf(plan, 'connect-bridge');
    if (port === undefined || (await this.host.bridge.drift(port, context.openNamespace())).length === 0) return;
    this.host.logger.warn({ taskId }, "the task's connection to the bridge differs from its plan; repairing it");
    await this.host.handlers['connect-bridge'].do(port, context);
  }

  private async lookAt(record: AttachmentRecord): Promise<void> {
    if (isOutlived(record, Date.now())) {
      await this.host.records.drop({ ...record, state: 'DETACHED' });
      return;
    }
    const alive = record.state === 'READY' && (await this.isAlive(record));
    if (this.host.operations.get(record.hash) !== undefined || this.host.records.get(record.hash) !== record) return;
    await this.carryOut(decideWhileRunning(record, alive), record);
    if (alive) await this.learnGateway(record);
  }

  private async isAlive({ sandbox }: AttachmentRecord): Promise<boolean> {
    return sandbox !== null && (await this.host.sandboxes.alive(sandbox));
  }

  private async carryOut(decision: Decision, record: AttachmentRecord): Promise<void> {
    if (decision === 'keep') return;
    this.host.metrics.reconciled(decision);
    const { hash } = record;
    switch (decision) {
      case 'adopt':
        return this.adopt(record);
      case 'set-aside':
        return this.host.records.setAside(hash, `it is of the instance ${record.instanceId ?? 'unknown'}`);
      case 'undo':
        return this.run(hash, 'undo', () => undoInterrupted(this.host, hash));
      case 'finish-detach':
        return this.run(hash, 'detach', () => detach(this.host, hash));
      case 'release':
        return this.run(hash, 'undo', () => release(this.host, hash, 'the sandbox ended'));
      case 'retry-undo':
        return this.run(hash, 'undo', () => retryUndo(this.host, hash));
    }
  }

  private run(hash: string, kind: Operation['kind'], act: () => Promise<AttachmentRecord>): void {
    const { settled } = this.host.operations.run(hash, kind, act);
    settled.catch((error: unknown) => {
      this.host.logger.error({ hash, reason: describeError(error) }, 'reconciling a task failed; it is tried again');
    });
  }

  /** Serves the task on: nothing of its network is touched while it is right. */
  private async adopt(record: AttachmentRecord): Promise<void> {
    const { hash, taskId, linkLocal, credentials, credentialsId } = record;
    const context = openContext(this.host, hash, null, AbortSignal.abort());
    if (linkLocal !== null && credentials !== null && credentialsId !== null)
      this.host.credentials.adopt({ hash, taskId, id: credentialsId, address: linkLocal.address, credentials });
    try {
      await this.reconnect(record, context);
      const dhcp = stepOf(record.plan, 'start-dhcp');
      if (dhcp !== undefined) await this.host.handlers['start-dhcp'].do(dhcp, context);
      this.host.logger.info({ taskId }, 'adopted');
    } catch (error) {
      this.host.logger.error({ taskId, reason: describeError(error) }, 'a task is not wholly adopted');
    } finally {
      context.release();
    }
  }

  /** READY does not wait for a router advertisement when there is IPv4; the gateway is noted once one came. */
  private async learnGateway(record: AttachmentRecord): Promise<void> {
    const { eni, hash } = record;
    if (eni === null || eni.ipv6 === null || eni.ipv6Gateway !== null || eni.device === null) return;
    const context = openContext(this.host, hash, null, AbortSignal.abort());
    try {
      const session = context.netlink();
      const gateway = session && (await learnedIpv6Gateway(session, eni.device.index));
      if (gateway !== undefined) this.host.records.patch(hash, { eni: { ...eni, ipv6Gateway: gateway } });
    } finally {
      context.release();
    }
  }
}
