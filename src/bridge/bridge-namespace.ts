/** The namespace in which nothing lives but the bridge and the credentials server, and the tasks' ports on that bridge. */
import type { Logger } from 'pino';
import type { Ipv4 } from '../addresses/cidr.js';
import { TaskEniError } from '../errors.js';
import { ignoring, isErrno } from '../kernel/errno.js';
import type { Link } from '../kernel/link-message.js';
import { linkNames } from '../kernel/link-names.js';
import type { Namespace } from '../kernel/namespaces.js';
import { NetlinkSession } from '../kernel/netlink.js';
import { isPinned, pinNamespace, repinNamespace } from '../kernel/pins.js';
import { writeSysctl } from '../kernel/sysctl.js';
import { type BridgeSettings, bridgeDrift, bridgeMac, ensureBridge, sealNamespace } from './bridge-link.js';
import { portDrift } from './port-drift.js';
import { type BridgePort, type PortPlan, hasPortFlags, isPortName, portFlags, portMtu, portsOf } from './port.js';
import { type ServerEnd, setUpTaskEnd, taskEndDrift } from './task-end.js';

interface Opened {
  readonly namespace: Namespace;
  readonly session: NetlinkSession;
}

export class BridgeNamespace {
  private opened: Opened | undefined;
  private bridge: Link | undefined;
  private ensuring: Promise<void> | undefined;

  constructor(
    private readonly settings: BridgeSettings,
    private readonly logger: Logger,
  ) {}

  /** Throws before the first {@link ensure}. */
  get namespace(): Namespace {
    return this.ready().namespace;
  }

  /** The bridge's index: another one once somebody deleted it and it was made anew, without its ports. */
  get bridgeIndex(): number | undefined {
    return this.bridge?.index;
  }

  /**
   * Makes the namespace and the bridge, or repairs what differs of them; one at work however many call.
   * Throws step-failed when the bridge's name is that of another kind of link.
   */
  ensure(): Promise<void> {
    this.ensuring ??= this.repair().finally(() => {
      this.ensuring = undefined;
    });
    return this.ensuring;
  }

  /** A short look before each use: only a bridge that was touched costs more. Its addresses are for {@link ensure} to mend. */
  private async stillThere(): Promise<void> {
    const known = this.bridge;
    const found = known && (await this.opened?.session.linkByIndex(known.index));
    if (found?.name !== known?.name || found?.mac !== known?.mac || found?.up !== true) await this.ensure();
  }

  private async repair(): Promise<void> {
    const { namespace, session } = (this.opened ??= await this.open());
    if (!isPinned(this.settings.instance)) {
      this.logger.warn({ namespace: this.settings.instance }, 'the bridge namespace lost its name; giving it back');
      repinNamespace(this.settings.instance, namespace);
    }
    const bridge = await ensureBridge(session, this.settings, this.logger);
    if (bridge.index !== this.bridge?.index)
      writeSysctl(namespace, `net/ipv4/conf/${this.settings.bridge}/rp_filter`, 1);
    this.bridge = bridge;
  }

  private async open(): Promise<Opened> {
    const namespace = await pinNamespace(this.settings.instance);
    try {
      sealNamespace(namespace);
      return { namespace, session: NetlinkSession.open(namespace) };
    } catch (error) {
      namespace.close();
      throw error;
    }
  }

  private ready(): Opened & { bridge: Link } {
    if (this.opened === undefined || this.bridge === undefined)
      throw new TaskEniError('internal', 'the bridge namespace is not there yet');
    return { ...this.opened, bridge: this.bridge };
  }

  private get server(): ServerEnd {
    return { address: this.settings.credentialsAddress.host, mac: bridgeMac(this.settings) };
  }

  /** Connects the task; what is there already is kept or repaired. */
  async connect({ taskNamespace, ...plan }: PortPlan & { readonly taskNamespace: Namespace }): Promise<void> {
    await this.stillThere();
    const task = NetlinkSession.open(taskNamespace);
    try {
      const ends = (await this.findPair(plan, task)) ?? (await this.createPair(plan, task, taskNamespace));
      await Promise.all([
        this.setUpPort(plan, ends.port),
        setUpTaskEnd(task, taskNamespace, { index: ends.peer.index, plan, server: this.server }),
      ]);
    } finally {
      task.close();
    }
  }

  /** The pair as an earlier call left it; a pair of ours that leads elsewhere, or was half made, is removed. */
  private async findPair(plan: PortPlan, task: NetlinkSession): Promise<{ port: Link; peer: Link } | undefined> {
    const { session } = this.ready();
    const port = await session.linkByName(plan.port);
    if (port === undefined) return undefined;
    if (!isOurs(port, plan.alias))
      throw new TaskEniError('step-failed', `the bridge has a port ${plan.port} that is not this task's`);
    const peer = port.peerIndex === undefined ? undefined : await task.linkByIndex(port.peerIndex);
    const whole = peer?.peerIndex === port.index && peer.alias === plan.alias && peer.name === plan.interface;
    if (whole && port.alias === plan.alias) return { port, peer };
    await session.deleteLink(port.index).catch(ignoring('ENODEV'));
    return undefined;
  }

  private async createPair(plan: PortPlan, task: NetlinkSession, namespace: Namespace) {
    const { session, bridge } = this.ready();
    const end = { name: plan.port, mtu: portMtu };
    const peerEnd = { name: plan.interface, mac: plan.mac, mtu: portMtu, namespace };
    try {
      await session.createVeth(end, peerEnd, bridge.index);
    } catch (error) {
      if (isErrno(error, 'EXFULL'))
        throw new TaskEniError('address-pool-exhausted', `${bridge.name} has no room for another port`, {
          cause: error,
        });
      if (isErrno(error, 'EEXIST') && (await task.linkByName(plan.interface)) !== undefined)
        throw new TaskEniError('unusable-sandbox', `the sandbox already has a link called ${plan.interface}`);
      throw error;
    }
    const [port, peer] = await Promise.all([session.linkByName(plan.port), task.linkByName(plan.interface)]);
    if (port !== undefined && peer !== undefined) return { port, peer };
    throw new TaskEniError('step-failed', `${plan.port} was deleted as soon as it was made`);
  }

  private async setUpPort(plan: PortPlan, port: Link): Promise<void> {
    const { session, bridge } = this.ready();
    const [, , , , found] = await Promise.all([
      port.master === bridge.index ? undefined : session.setLink(port.index, { master: bridge.index }),
      session.setLink(port.index, { alias: plan.alias, portFlags }),
      session.setForwardingEntry(port.index, plan.mac),
      session.setNeighbour(bridge.index, plan.address, plan.mac),
      session.linkByIndex(port.index),
    ]);
    if (found === undefined || !hasPortFlags(found))
      throw new TaskEniError('step-failed', `the kernel did not take the flags that keep ${plan.port} apart`);
    await session.setLink(port.index, { up: true });
  }

  /**
   * Removes the pair and its entries, when the mark proves them ours. False when there was no such pair.
   * `address` absent: whatever the port's entries say.
   */
  async disconnect(plan: Pick<PortPlan, 'port' | 'alias'> & { readonly address?: Ipv4 }): Promise<boolean> {
    await this.stillThere();
    const { session, bridge } = this.ready();
    const port = await session.linkByName(plan.port);
    if (port !== undefined && !isOurs(port, plan.alias)) {
      this.logger.warn({ port: plan.port, alias: port.alias }, "a port bears a name of ours but not the task's mark");
      return false;
    }
    const address = plan.address ?? (await this.ports()).find((other) => other.index === port?.index)?.address;
    // The neighbour entry outlives the port; the forwarding entry does not.
    if (address !== undefined) await session.deleteNeighbour(bridge.index, address).catch(ignoring('ENOENT'));
    if (port === undefined) return false;
    await session.deleteLink(port.index).catch(ignoring('ENODEV'));
    return true;
  }

  async ports(): Promise<BridgePort[]> {
    await this.stillThere();
    const { session, bridge } = this.ready();
    const [links, forwarding, neighbours] = await Promise.all([
      session.links(),
      session.forwardingEntries(),
      session.neighbours(bridge.index),
    ]);
    return portsOf(links, bridge.index, forwarding, neighbours);
  }

  /** The names of all links beside the bridge, at a tenth of the cost of {@link ports}. */
  linkNames(): string[] {
    return linkNames(this.ready().namespace);
  }

  /**
   * Removes what a connect that was cut short left half made, and gives the names: ports without a mark that are down, so
   * that no task has ever used them. `isKnown`: whether a task has a port of that name.
   */
  async removeHalfMade(isKnown: (port: string) => boolean): Promise<string[]> {
    await this.stillThere();
    const { session, bridge } = this.ready();
    const links = await session.links();
    const halfMade = links.filter(
      ({ name, kind, alias, up, master }) =>
        kind === 'veth' && alias === '' && !up && master === bridge.index && isPortName(name) && !isKnown(name),
    );
    // By index: another of that name may be made meanwhile.
    for (const { index } of halfMade) await session.deleteLink(index).catch(ignoring('ENODEV'));
    return halfMade.map(({ name }) => name);
  }

  /** The addresses that ports hold now, whatever the records say. */
  async addressesInUse(): Promise<Ipv4[]> {
    return (await this.ports()).flatMap((port) => port.address ?? []);
  }

  /** What of a task's connection differs from its plan, a sentence each; `taskNamespace` absent: it is gone. */
  async drift(plan: PortPlan, taskNamespace: Namespace | undefined): Promise<string[]> {
    const { session } = this.ready();
    const [bridge, port] = await Promise.all([session.linkByName(this.settings.bridge), session.linkByName(plan.port)]);
    const found = [
      ...(await bridgeDrift(session, bridge, this.settings)),
      ...(await portDrift(session, bridge, plan, port)),
    ];
    if (taskNamespace === undefined) return found;
    const task = NetlinkSession.open(taskNamespace);
    return taskEndDrift(task, plan, this.server, port?.index)
      .then((ofTask) => [...found, ...ofTask])
      .finally(() => task.close());
  }

  close(): void {
    this.opened?.session.close();
    this.opened?.namespace.close();
    this.opened = undefined;
    this.bridge = undefined;
  }
}

/** The name is a hash of instance and task; a link of that name without any mark is one that a crash left half made. */
function isOurs(port: Link, alias: string): boolean {
  return port.kind === 'veth' && (port.alias === alias || port.alias === '');
}
