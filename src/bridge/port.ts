/** A task's connection to the bridge, as data. Pure. */
import type { Ipv4 } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import type { PortFlags } from '../kernel/link-info.js';
import type { Link } from '../kernel/link-message.js';
import type { ForwardingEntry, Neighbour } from '../kernel/neighbour-message.js';

/** One task's veth pair: `port` on the bridge, `interface` inside the task. */
export interface PortPlan {
  readonly port: string;
  /** The mark that proves the pair to be ours; on both ends. */
  readonly alias: string;
  readonly interface: string;
  readonly address: Ipv4;
  /** Hardware address of the task's end. */
  readonly mac: Mac;
}

/** Whether a link bears a name as tasks' ports do: `ve` and ten digits of the task's hash. */
export function isPortName(name: string): boolean {
  return /^ve[0-9a-f]{10}$/.test(name);
}

/** A port as the bridge has it; `address` by its forwarding and neighbour entries. */
export interface BridgePort {
  readonly name: string;
  readonly alias: string;
  readonly index: number;
  readonly address: Ipv4 | undefined;
}

/**
 * Nothing passes between two tasks (isolated), and no task is sent what is meant for another: with learning on, one that
 * took its neighbour's address and MAC got its neighbour's connections. Broadcasts are not sent either, since every
 * neighbour the bridge has is a permanent entry.
 */
export const portFlags: PortFlags = {
  isolated: true,
  learning: false,
  unicastFlood: false,
  multicastFlood: false,
  broadcastFlood: false,
};

/**
 * Both ends of a pair, or one would send what the other drops. A larger one brings nothing that could be measured: the
 * credentials fit into two segments, and between two ends of a pair they are not even cut.
 */
export const portMtu = 1500;

export function hasPortFlags(link: Link): boolean {
  const { portFlags: found } = link;
  return (
    found !== undefined && Object.entries(portFlags).every(([flag, value]) => found[flag as keyof PortFlags] === value)
  );
}

/** The bridge's ports with the addresses that their entries give them. */
export function portsOf(
  links: readonly Link[],
  bridge: number,
  forwarding: readonly ForwardingEntry[],
  neighbours: readonly Neighbour[],
): BridgePort[] {
  const addressOf = (index: number): Ipv4 | undefined => {
    const own = forwarding.filter((entry) => entry.port === index && entry.isStatic);
    return neighbours.find(({ mac }) => own.some((entry) => entry.mac === mac))?.address;
  };
  return links
    .filter((link) => link.master === bridge)
    .map(({ name, alias, index }) => ({ name, alias, index, address: addressOf(index) }));
}
