import type { Ipv4 } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import { TaskEniError, describeError } from '../errors.js';
import { type Namespace, openNamespace } from '../kernel/namespaces.js';
import { NetlinkSession } from '../kernel/netlink.js';
import { occupants } from '../sandboxes/occupants.js';
import type { FormerLink } from '../steps/step.js';
import { type TraceParts, findTraces } from './find-traces.js';
import type { Host } from './host.js';
import { type Liveliness, type Traces, isStray } from './marks.js';
import { orphanRecord } from './orphan-record.js';
import { parseMark, portName } from './names.js';
import { linkLocalInterface } from './plan.js';
import type { TaskId } from './task-id.js';

export interface Orphan {
  readonly hash: string;
  /** The task, where a label tells. */
  readonly taskId: string | null;
  readonly detail: string;
}

type Parts = TraceParts & Pick<Host, 'pool' | 'logger' | 'metrics' | 'bootId' | 'records'>;

/**
 * What bears this instance's mark but no record knows, because the records were lost or damaged. What nothing lives in is
 * removed; the rest stays as it is, with its address reserved, until a DELETE or POST of its task settles it.
 */
export class Orphans {
  private readonly found = new Map<string, Traces>();

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

  /** Looks for what is new, removes what nothing lives in, and keeps the rest. */
  async look(): Promise<void> {
    const known = new Set(this.parts.records.all().map(({ hash }) => hash));
    await this.claimAddresses(known);
    for (const [hash, traces] of await findTraces(this.parts)) {
      if (known.has(hash) || this.parts.records.get(hash) !== undefined) continue;
      await this.judge(traces).catch((error: unknown) => {
        this.parts.logger.error({ hash, reason: describeError(error) }, 'a stray could not be looked at or removed');
      });
    }
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
  }

  private async judge(traces: Traces): Promise<void> {
    const { hash } = traces;
    if (await this.isDead(traces)) return this.remove(traces);
    if (!this.found.has(hash)) this.parts.logger.warn({ hash, traces }, 'an orphan: in use, but no record knows it');
    this.found.set(hash, traces);
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
      return isStray(await this.liveliness(traces));
    } catch (error) {
      this.parts.logger.warn({ hash: traces.hash, reason: describeError(error) }, 'a stray could not be looked into');
      return false;
    }
  }

  private async liveliness({ namespace, sandbox }: Traces): Promise<Liveliness> {
    const container = sandbox?.containerId ?? null;
    const joined = container === null ? 0 : (await this.parts.sandboxes.docker.joined(container)).length;
    const opened = await this.openOf(namespace, sandbox);
    if (opened === undefined) return { otherLinks: 0, processes: 0, joined };
    try {
      const inside = await occupants(opened);
      const pause = container === null || !sandbox?.running ? 0 : 1;
      return { otherLinks: await otherLinks(opened), processes: Math.max(0, inside.length - pause), joined };
    } finally {
      opened.close();
    }
  }

  /** Undefined when there is no namespace: nothing runs, and nothing is pinned. Throws when there is one that cannot be opened. */
  private async openOf(namespace: Traces['namespace'], sandbox: Traces['sandbox']): Promise<Namespace | undefined> {
    if (namespace !== null) return openNamespace(namespace.path);
    if (sandbox === null || !sandbox.running) return undefined;
    if (sandbox.containerId === null) return openNamespace(`/run/netns/${sandbox.name}`);
    const borrowed = await this.parts.sandboxes.borrow({ kind: 'container', containerId: sandbox.containerId });
    return borrowed.namespace;
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

/** Loopback and the links that a kernel gives every namespace (tunnels) are nobody's; so is our own link-local end. */
async function otherLinks(namespace: Namespace): Promise<number> {
  const session = NetlinkSession.open(namespace);
  const links = await session.links().finally(() => session.close());
  const given = new Set([
    'lo',
    linkLocalInterface,
    'tunl0',
    'sit0',
    'ip6tnl0',
    'gre0',
    'gretap0',
    'erspan0',
    'ip_vti0',
    'ip6_vti0',
    'ip6gre0',
  ]);
  return links.filter(({ name }) => !given.has(name)).length;
}
