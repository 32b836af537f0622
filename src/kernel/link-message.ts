/** Links as rtnetlink messages (rtnetlink(7), linux/if_link.h). Pure bytes. */
import { type Mac, macFromBytes, macToBytes } from '../addresses/mac.js';
import { Attributes, attribute, nestedAttribute, textAttribute, wordAttribute } from './attributes.js';
import { type LinkInfo, type PortFlags, portFlagsInfo, readLinkInfo } from './link-info.js';

/** linux/if.h */
export const linkFlags = { up: 0x1, noArp: 0x80, promiscuous: 0x100, allMulticast: 0x200, lowerUp: 0x10000 } as const;

export const IFLA = {
  ADDRESS: 1,
  IFNAME: 3,
  MTU: 4,
  LINK: 5,
  MASTER: 10,
  TXQLEN: 13,
  OPERSTATE: 16,
  IFALIAS: 20,
  NET_NS_FD: 28,
  EXT_MASK: 29,
  LINK_NETNSID: 37,
  PROP_LIST: 52,
  ALT_IFNAME: 53,
  PERM_ADDRESS: 54,
} as const;

const RTEXT_FILTER_SKIP_STATS = 1 << 3;
const headerLength = 16;
const operStates = ['unknown', 'notpresent', 'down', 'lowerlayerdown', 'testing', 'dormant', 'up'] as const;
export type OperState = (typeof operStates)[number];

export interface Link extends LinkInfo {
  readonly index: number;
  readonly name: string;
  readonly mac: Mac | undefined;
  /** The address burnt into the device; a veth or dummy link has none. */
  readonly permanentMac: Mac | undefined;
  readonly mtu: number;
  readonly txQueueLength: number;
  /** IFF_* of linux/if.h. */
  readonly flags: number;
  readonly up: boolean;
  readonly alias: string;
  readonly altNames: readonly string[];
  /** Index of the bridge or bond it is a port of. */
  readonly master: number | undefined;
  /** Index of a veth's other end, in the namespace that `peerNamespaceId` tells. */
  readonly peerIndex: number | undefined;
  /** Absent when the other end (or the link below) is in the same namespace. */
  readonly peerNamespaceId: number | undefined;
  /** Index of the link that this one is stacked on (vlan, macvlan, …). */
  readonly lowerIndex: number | undefined;
  readonly operState: OperState;
}

/** What to change of a link; what is absent stays as it is. */
export interface LinkChange {
  /** A `%d` in it stands for the lowest free number. */
  readonly name?: string | undefined;
  readonly mac?: Mac | undefined;
  readonly mtu?: number | undefined;
  readonly txQueueLength?: number | undefined;
  /** At most 254 bytes; empty: none. Ignored by the kernel in a request that creates a link. */
  readonly alias?: string | undefined;
  /** Index of the bridge to be a port of; 0: of none. */
  readonly master?: number | undefined;
  readonly up?: boolean | undefined;
  /** Sets the flags of `mask` as in `value`. */
  readonly flags?: { readonly mask: number; readonly value: number } | undefined;
  /** Descriptor of the network namespace to move it into. */
  readonly namespaceFd?: number | undefined;
  readonly portFlags?: PortFlags | undefined;
}

function linkHeader(index: number, flags: number, mask: number): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeInt32LE(index, 4);
  header.writeUInt32LE(flags >>> 0, 8);
  header.writeUInt32LE(mask >>> 0, 12);
  return header;
}

/** A request for one link: by index, or by name (which may be an alternative one) with index 0. */
export function linkQuery(index: number, name?: string): Buffer {
  const query = [linkHeader(index, 0, 0), wordAttribute(IFLA.EXT_MASK, RTEXT_FILTER_SKIP_STATS)];
  if (name !== undefined) query.push(textAttribute(IFLA.IFNAME, name));
  return Buffer.concat(query);
}

/** `index` 0 in a request that creates the link; `extra` are further whole attributes. */
export function linkMessage(index: number, change: LinkChange, ...extra: readonly Buffer[]): Buffer {
  const parts = [linkHeader(index, changedFlags(change), changedMask(change))];
  if (change.namespaceFd !== undefined) parts.push(wordAttribute(IFLA.NET_NS_FD, change.namespaceFd));
  if (change.name !== undefined) parts.push(textAttribute(IFLA.IFNAME, change.name));
  if (change.mac !== undefined) parts.push(attribute(IFLA.ADDRESS, macToBytes(change.mac)));
  if (change.mtu !== undefined) parts.push(wordAttribute(IFLA.MTU, change.mtu));
  if (change.txQueueLength !== undefined) parts.push(wordAttribute(IFLA.TXQLEN, change.txQueueLength));
  // Without a NUL: an alias of length 0 is none at all.
  if (change.alias !== undefined) parts.push(attribute(IFLA.IFALIAS, Buffer.from(change.alias)));
  if (change.master !== undefined) parts.push(wordAttribute(IFLA.MASTER, change.master));
  if (change.portFlags !== undefined) parts.push(portFlagsInfo(change.portFlags));
  return Buffer.concat([...parts, ...extra]);
}

function changedFlags(change: LinkChange): number {
  return (change.up === true ? linkFlags.up : 0) | (change.flags?.value ?? 0);
}

function changedMask(change: LinkChange): number {
  return (change.up === undefined ? 0 : linkFlags.up) | (change.flags?.mask ?? 0);
}

export function altNamesMessage(index: number, names: readonly string[]): Buffer {
  const list = names.map((name) => textAttribute(IFLA.ALT_IFNAME, name));
  return Buffer.concat([linkHeader(index, 0, 0), nestedAttribute(IFLA.PROP_LIST, ...list)]);
}

export function parseLink(message: Buffer): Link {
  const attributes = new Attributes(message, headerLength);
  const info = readLinkInfo(attributes);
  const flags = message.readUInt32LE(8);
  const linked = attributes.word(IFLA.LINK);
  return {
    ...info,
    index: message.readInt32LE(4),
    name: attributes.text(IFLA.IFNAME) ?? '',
    mac: readMac(attributes, IFLA.ADDRESS),
    permanentMac: readMac(attributes, IFLA.PERM_ADDRESS),
    mtu: attributes.word(IFLA.MTU) ?? 0,
    txQueueLength: attributes.word(IFLA.TXQLEN) ?? 0,
    flags,
    up: (flags & linkFlags.up) !== 0,
    alias: attributes.text(IFLA.IFALIAS) ?? '',
    altNames: attributes.texts(IFLA.PROP_LIST, IFLA.ALT_IFNAME),
    master: attributes.word(IFLA.MASTER),
    peerIndex: info.kind === 'veth' ? linked : undefined,
    peerNamespaceId: attributes.word(IFLA.LINK_NETNSID),
    lowerIndex: info.kind === 'veth' ? undefined : linked,
    operState: operStates[attributes.byte(IFLA.OPERSTATE) ?? 0] ?? 'unknown',
  };
}

function readMac(attributes: Attributes, type: number): Mac | undefined {
  const bytes = attributes.bytes(type);
  return bytes && macFromBytes(bytes);
}
