/** Which link is the ENI: decided on listings alone. Pure. */
import type { Mac } from '../addresses/mac.js';
import { TaskEniError } from '../errors.js';
import type { Link } from '../kernel/link-message.js';

/** Links that are made on top of others, or of nothing, and may bear an ENI's MAC without being one. */
const neverEnis: ReadonlySet<string> = new Set(
  'bridge bond team vlan macvlan macvtap ipvlan ipvtap vrf macsec hsr vxlan geneve gretap ip6gretap openvswitch tun'.split(
    ' ',
  ),
);

/** What is known of an ENI from before it was moved into the task. */
export interface EniIdentity {
  /** The mark it was given when it was moved. */
  readonly alias: string;
  readonly mac: Mac;
  /** Index in the task's namespace; null: not known. It counts only together with kind and peer. */
  readonly index: number | null;
  /** null: a physical link. */
  readonly kind: string | null;
  readonly peerIndex: number | null;
  readonly permanentMac: Mac | null;
}

const bears = (link: Link, mac: Mac): boolean => link.mac === mac || link.permanentMac === mac;

/** A port's MAC shows on its bridge, an ENI's on every link stacked on it: those do not count. */
function isStacked(link: Link, links: readonly Link[]): boolean {
  return (
    link.lowerIndex !== undefined ||
    (link.kind !== undefined && neverEnis.has(link.kind)) ||
    links.some((other) => other.master === link.index)
  );
}

/** The links that bear the MAC and can be an ENI. No kind is asked for: a veth can stand for one. */
export function findCandidates(links: readonly Link[], mac: Mac): Link[] {
  return links.filter((link) => bears(link, mac) && !isStacked(link, links));
}

/** The ENI with that MAC; undefined when it is not there yet. Throws unusable-eni when two links bear it. */
export function findEni(links: readonly Link[], mac: Mac): Link | undefined {
  const candidates = findCandidates(links, mac);
  if (candidates.length < 2) return candidates[0];
  const names = candidates.map((link) => link.name).toSorted();
  throw new TaskEniError('unusable-eni', `several links bear the MAC address ${mac}: ${names.join(', ')}`);
}

function isSameDevice(link: Link, identity: EniIdentity): boolean {
  return (
    link.index === identity.index &&
    (link.kind ?? null) === identity.kind &&
    (link.peerIndex ?? null) === identity.peerIndex &&
    (link.permanentMac ?? null) === identity.permanentMac
  );
}

function findByAddress(links: readonly Link[], identity: EniIdentity): Link | undefined {
  const { permanentMac } = identity;
  const permanent = permanentMac === null ? undefined : links.find((link) => link.permanentMac === permanentMac);
  const marked = () => links.find((link) => link.alias === identity.alias && !isStacked(link, links));
  const [byMac, second] = permanent === undefined ? findCandidates(links, identity.mac) : [];
  return permanent ?? marked() ?? (second === undefined ? byMac : undefined);
}

/**
 * The ENI among the links of the task, which may have renamed it and changed its address and mark: by index with kind and
 * peer, then by permanent address, by mark, by MAC; never by name.
 */
export function findInTask(links: readonly Link[], identity: EniIdentity): Link | undefined {
  return links.find((link) => isSameDevice(link, identity)) ?? findByAddress(links, identity);
}

/** The ENI among the host's links, where its index in the task means nothing. */
export function findAtHome(links: readonly Link[], identity: EniIdentity): Link | undefined {
  return findByAddress(links, identity);
}

const borrowing: ReadonlySet<string> = new Set(['vlan', 'macvlan', 'macvtap', 'ipvlan', 'ipvtap', 'macsec']);

/** The links that send and receive by this one. */
export function stackedOn(link: Link, links: readonly Link[]): Link[] {
  return links.filter(
    (upper) =>
      upper.lowerIndex === link.index &&
      upper.peerNamespaceId === undefined &&
      upper.kind !== undefined &&
      borrowing.has(upper.kind),
  );
}
