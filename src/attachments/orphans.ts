import type { Ipv4 } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import { TaskEniError, describeError } from '../errors.js';
import type { FormerLink } from '../steps/step.js';
import { holds } from './conflicts.js';
import { type TraceParts, findTraces } from './find-traces.js';
import type { Host } from './host.js';
import { livelinessOf } from './liveliness.js';
import { type Traces, isStray } from './marks.js';
import { orphanRecord } from './orphan-record.js';
import { parseMark, portName } from './names.js';
import { suspectNames } from './suspects.js';
import type { TaskId } from './task-id.js';

export interface Orphan {
  readonly hash: string;
  /** The task, where a label tells. */
  readonly taskId: string | null;
  readonly detail: string;
}

type Parts = TraceParts & Pick<Host, 'pool' | 'logger' | 'metrics' | 'bootId' | 'records' | 'operations' | 'retries'>;

/** Milliseconds after which the whole host is looked over again while anything is in doubt. */
const lookOverEvery = 60_000;

/**
 * What bears this instance's mark but no record knows, because the records were lost or damaged. What nothing lives in is
 * removed; the rest stays as it is, with its address reserved, until a DELETE or POST of its task settles it.
 */
export class Orphans {
  private readonly found = new Map<string, Traces>();
  private suspected: ReadonlySet<string> = new Set();
  private lookedAt = 0;

  constructor(private readonly parts: Parts) {}

  all(): Orphan[] {
    return [...this.found.values()].map(({ hash, sandbox, namespace, port }) => ({
      hash,
      taskId: sandbox?.task ?? null,
      detail:
        `no record knows ${sandbox?.name ?? port?.name ?? hash}, and it is in use` +
        (namespace?.eni ? `: it holds the ENI ${namespace.eni.mac} in ${namespace.path}` : ''),
    }));
  }

  /** Looks all over the host for what is new, removes what nothing lives in, and keeps the rest. */
  async look(): Promise<void> {
    const known = this.knownHashes();
    await this.claimAddresses(known);
    const found = await findTraces(this.parts);
    for (const hash of this.found.keys()) if (!found.has(hash)) this.vanish(hash);
    for (const [hash, traces] of found) if (!known.has(hash)) await this.judge(traces);
    const ports = new Set([...known, ...this.knownHashes()].map(portName));
    for (const port of await this.parts.bridge.removeHalfMade((name) => ports.has(name)))
      this.parts.logger.info({ port }, 'removed a port that was only half made');
    this.lookedAt = performance.now();
  }

  /**
   * The same while the service runs: only names are compared, and known orphans looked into. All over the host is looked
   * when a name shows that is new, and now and then while anything is in doubt. `withDocker`: also at its containers.
   */
  async lookAgain(withDocker: boolean): Promise<void> {
    const suspects = await suspectNames(this.parts, new Set([...this.knownHashes(), ...this.found.keys()]), withDocker);
    const isOld = performance.now() - this.lookedAt > lookOverEvery;
    const inDoubt = suspects.size > 0 || this.found.size > 0;
    if ([...suspects].some((name) => !this.suspected.has(name)) || (isOld && inDoubt)) {
      await this.look();
      this.suspected = suspects;
      return;
    }
    for (const traces of this.found.values())
      if (withDocker || (traces.sandbox?.containerId ?? null) === null) await this.judge(traces);
  }

  addressOf(hash: string): Ipv4 | undefined {
    return this.found.get(hash)?.port?.address;
  }

  /** How the ENI was on the host, when it is in the orphan of just this task. */
  formerLink(hash: string, mac: Mac): FormerLink | undefined {
    const eni = this.found.get(hash)?.namespace?.eni;
    return eni?.mac === mac ? eni.former : undefined;
  }

  /** Throws eni-in-use when the ENI is in the orphan of another task. */
  refuseEni(mac: Mac, hash: string): void {
    for (const { hash: other, namespace } of this.found.values())
      if (other !== hash && namespace?.eni?.mac === mac)
        throw new TaskEniError('eni-in-use', `${mac} is in ${namespace.path}, in a task whose record was lost`);
  }

  /** Throws task-exists when the orphan of just this task has another ENI, or is in another sandbox than the one asked for. */
  refuseOther(hash: string, mac: Mac, cookie: string | null): void {
    const { namespace, sandbox } = this.found.get(hash) ?? { namespace: null, sandbox: null };
    if (namespace === null) return;
    const hasSandbox = cookie === null ? sandbox !== null : cookie === namespace.cookie;
    if (hasSandbox && (namespace.eni === null || namespace.eni.mac === mac)) return;
    throw new TaskEniError('task-exists', `the task has a network in ${namespace.path}, whose record was lost`);
  }

  /** The pause container of the orphan, if it has one. */
  containerOf(hash: string): string | undefined {
    return this.found.get(hash)?.sandbox?.containerId ?? undefined;
  }

  /** The orphan's task is asked for: its record is made up from its traces. False when there is no such orphan. */
  adopt(taskId: TaskId, hash: string): boolean {
    const traces = this.found.get(hash);
    if (traces === undefined) return false;
    const { settings, bootId, records } = this.parts;
    records.begin(orphanRecord(traces, { taskId, instance: settings.instance, interface: settings.interface, bootId }));
    return true;
  }

  settle(hash: string): void {
    this.found.delete(hash);
    this.parts.retries.succeeded(`orphan ${hash}`);
  }

  /** The tasks that may have something on the host. What bears the mark of an ended one is as unknown as any other. */
  private knownHashes(): Set<string> {
    return new Set(this.parts.records.all().flatMap((record) => (holds(record) ? [record.hash] : [])));
  }

  /** Under way, or taken up by its own POST or DELETE. */
  private isTaken(hash: string): boolean {
    const record = this.parts.records.get(hash);
    return (record !== undefined && holds(record)) || this.parts.operations.get(hash) !== undefined;
  }

  private async judge(traces: Traces): Promise<void> {
    const { hash } = traces;
    const { operations, logger } = this.parts;
    try {
      if (this.isTaken(hash)) return;
      const isDead = await this.isDead(traces);
      if (this.isTaken(hash)) return;
      if (isDead) return await operations.mend(hash, () => this.removeDead(traces)).settled;
      if (!this.found.has(hash)) logger.warn({ hash, traces }, 'an orphan: in use, but no record knows it');
      this.found.set(hash, traces);
    } catch (error) {
      this.complain(hash, 'a stray could not be looked at or removed', error);
    }
  }

  /** Tried again and again, so said only when it is new. */
  private complain(hash: string, what: string, error: unknown): void {
    const reason = describeError(error);
    const isNew = this.parts.retries.failed(`orphan ${hash}`, reason);
    this.parts.logger[isNew ? 'warn' : 'debug']({ hash, reason }, what);
  }

  /** Nothing of it is on the host any more. */
  private vanish(hash: string): void {
    if (this.isTaken(hash)) return;
    const address = this.addressOf(hash);
    if (address !== undefined) this.parts.pool.release(address, hash);
    this.settle(hash);
    this.parts.logger.info({ hash }, 'an orphan is gone');
  }

  /** Before anything is judged: what a port holds is given to nobody, also when the rest cannot be looked at. */
  private async claimAddresses(known: ReadonlySet<string>): Promise<void> {
    for (const { alias, address } of await this.parts.bridge.ports()) {
      const mark = parseMark(alias);
      if (mark?.instance !== this.parts.settings.instance || known.has(mark.hash) || address === undefined) continue;
      this.parts.pool.claim(address, mark.hash);
    }
  }

  /** Only what was looked into can be called dead: a port proves that the namespace at its other end is somewhere. */
  private async isDead(traces: Traces): Promise<boolean> {
    if (traces.port !== null && traces.namespace === null) return false;
    try {
      return isStray(await livelinessOf(traces, this.parts.sandboxes));
    } catch (error) {
      this.complain(traces.hash, 'a stray could not be looked into', error);
      return false;
    }
  }

  /** Under the task's lock: looked into once more, for somebody may have come before it was taken. */
  private async removeDead(traces: Traces): Promise<void> {
    if (!(await this.isDead(traces))) return;
    await this.remove(traces);
    this.settle(traces.hash);
  }

  private async remove({ hash, port, sandbox }: Traces): Promise<void> {
    const { bridge, sandboxes, logger, metrics } = this.parts;
    logger.info({ hash, port: port?.name, sandbox: sandbox?.name }, 'removing what no task owns and nothing lives in');
    if (port !== null) await bridge.disconnect({ port: portName(hash), alias: port.alias });
    if (sandbox?.kind === 'netns') await sandboxes.bare.remove(sandbox.name);
    if (sandbox?.kind === 'docker' && sandbox.containerId !== null)
      await sandboxes.docker.remove(sandbox.containerId, (sandbox.task ?? '') as TaskId);
    if (port?.address !== undefined) this.parts.pool.release(port.address, hash);
    metrics.reconciled('remove-stray');
  }
}
