import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeError } from '../errors.js';
import type { AttachmentRecord } from '../store/record.js';
import { detach, release, retryUndo, undoInterrupted } from './detach.js';
import { learnedIpv6Gateway } from '../eni/configure.js';
import { type Host, openContext } from './host.js';
import { Mending } from './mending.js';
import type { TaskOperation } from './operations.js';
import { withLearnedGateway } from './record-changes.js';
import { type Decision, decideAtStart, decideWhileRunning, outlived } from './reconcile.js';

/** Milliseconds between two looks at the tasks' sandboxes: half of how long a task that ended may go unnoticed, and less. */
const lookEvery = 3000;

/** Milliseconds for which a look holds the main thread at a time. */
const turn = 5;
/** Every how many looks Docker is asked for containers that no record knows. */
const dockerLookEvery = 5;
/** Milliseconds that a stop waits for a look under way, which begins nothing any more. */
const stopPatience = 8000;

/** Brings records and host together: once at start, and then whenever something may have changed. */
export class Reconciler {
  private readonly mending: Mending;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private seeking: Promise<void> | undefined;
  private again = false;
  private knowsOrphans = false;
  private looks = 0;

  constructor(private readonly host: Host) {
    this.mending = new Mending(host);
    host.records.onChange(({ state, hash }) => {
      if (state === 'DETACHED') host.retries.forget(hash);
    });
  }

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
    this.mending.trustBridge();
    await this.host.credentials.discardOthers();
    this.timer = setInterval(() => this.look(), lookEvery);
  }

  /** Looks at every task soon; a look under way is followed by another. */
  look(): void {
    if (this.stopping.signal.aborted) return;
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

  /** Docker answers again, or may have: what failed for want of it is tried now. */
  lookAfresh(): void {
    this.host.retries.hurry();
    // The next look is one that asks Docker, too, for what it made when nobody waited any more.
    this.looks = -1;
    this.look();
  }

  /** From the call on nothing is begun. Resolves when a look under way is over. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.timer);
    const bound = new Promise<void>((resolve) => setTimeout(resolve, stopPatience).unref());
    await Promise.race([Promise.all([this.looking, this.seeking]), bound]);
  }

  private async settle(record: AttachmentRecord, instanceId: string | null): Promise<void> {
    // A sandbox that cannot be looked at may be alive: its task is served on, and looked at again.
    const alive = await this.isAlive(record).catch((error: unknown) => {
      const { taskId } = record;
      this.host.logger.error({ taskId, reason: describeError(error) }, 'a sandbox could not be looked at');
      return true;
    });
    const { bootId } = this.host;
    const decision = decideAtStart(record, { bootId, instanceId, sandboxAlive: () => alive });
    const address = record.linkLocal?.address;
    const holdsAddress = decision !== 'keep' && decision !== 'set-aside';
    if (holdsAddress && address !== undefined) this.host.pool.claim(address, record.hash);
    await this.carryOut(decision, record);
  }

  /** Docker may be down for longer than the service: what cannot be looked at now is looked at later, and stays till then. */
  private async lookForOrphans(): Promise<void> {
    await this.attempt('orphans', 'orphans could not be looked for', {}, async () => {
      this.looks += 1;
      if (this.knowsOrphans) return this.host.orphans.lookAgain(this.looks % dockerLookEvery === 0);
      await this.host.orphans.look();
      this.knowsOrphans = true;
    });
  }

  private async lookOnce(): Promise<void> {
    const { signal } = this.stopping;
    await this.attempt('bridge', 'the bridge could not be mended', {}, () => this.mending.look(signal));
    if (signal.aborted) return;
    // Aside, for an engine that hangs takes its time to say nothing, and tasks that end meanwhile are to be seen.
    this.seeking ??= this.lookForOrphans().finally(() => (this.seeking = undefined));
    await this.attempt('forget', 'ended tasks could not be forgotten', {}, () => this.forget());
    let turnEnds = performance.now() + turn;
    for (const record of this.host.records.all()) {
      // Looking at a task that is right takes no turn of the event loop, so that a thousand would hold it.
      if (performance.now() > turnEnds) {
        await nextTurn();
        turnEnds = performance.now() + turn;
      }
      if (signal.aborted) return;
      const { hash, taskId } = record;
      await this.attempt(`look ${hash}`, 'a task could not be looked at', { taskId }, () => this.lookAt(record));
    }
  }

  /** What fails is tried again by the next look, and said once. */
  private async attempt(key: string, failed: string, whose: object, act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.host.retries.succeeded(key);
    } catch (error) {
      const reason = describeError(error);
      const isNews = this.host.retries.failed(key, reason) && !this.stopping.signal.aborted;
      this.host.logger[isNews ? 'error' : 'debug']({ ...whose, reason }, `${failed}; it is tried again`);
    }
  }

  private async forget(): Promise<void> {
    for (const record of outlived(this.host.records.all(), Date.now()))
      if (this.isIdle(record)) await this.host.records.drop({ ...record, state: 'DETACHED' });
  }

  private async lookAt(record: AttachmentRecord): Promise<void> {
    const { hash } = record;
    if (!this.isIdle(record)) return;
    const alive = record.state === 'READY' && (await this.isAlive(record));
    if (!this.isIdle(record) || this.stopping.signal.aborted) return;
    const decision = decideWhileRunning(record, alive);
    if ((decision === 'retry-undo' || decision === 'finish-detach') && !this.host.retries.isDue(hash)) return;
    await this.carryOut(decision, record);
    if (alive) await this.learnGateway(record);
  }

  /** Whether nobody is at work on the task, and it is as it was when the look began. */
  private isIdle(record: AttachmentRecord): boolean {
    return this.host.operations.get(record.hash) === undefined && this.host.records.get(record.hash) === record;
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
        return this.mending.adopt(record);
      case 'set-aside':
        return this.host.records.setAside(hash, `it is of the instance ${record.instanceId ?? 'unknown'}`);
      case 'undo':
        return this.run(record, 'undo', () => undoInterrupted(this.host, hash));
      case 'finish-detach':
        return this.run(record, 'detach', () => detach(this.host, hash));
      case 'release':
        return this.run(record, 'undo', () => release(this.host, hash, 'the sandbox ended'));
      case 'retry-undo':
        return this.run(record, 'undo', () => retryUndo(this.host, hash));
    }
  }

  private run(
    { hash, taskId }: AttachmentRecord,
    kind: TaskOperation['kind'],
    act: () => Promise<AttachmentRecord>,
  ): void {
    const { settled } = this.host.operations.run(hash, kind, act);
    void this.attempt(`reconcile ${hash}`, 'reconciling a task failed', { taskId }, async () => void (await settled));
  }

  /** READY does not wait for a router advertisement when there is IPv4; the gateway is noted once one came. */
  private async learnGateway(record: AttachmentRecord): Promise<void> {
    const { eni, hash } = record;
    if (eni === null || eni.ipv6 === null || eni.ipv6Gateway !== null || eni.device === null) return;
    const context = openContext(this.host, hash, null, AbortSignal.abort());
    try {
      const session = context.netlink();
      const gateway = session && (await learnedIpv6Gateway(session, eni.device.index));
      // Looked up again: a DELETE, and a POST after it, may have come meanwhile.
      const change = gateway && withLearnedGateway(this.host.records.get(hash), record, gateway);
      if (change !== undefined) this.host.records.patch(hash, change);
    } finally {
      context.release();
    }
  }
}
