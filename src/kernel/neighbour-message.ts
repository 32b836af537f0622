/** Neighbour and bridge forwarding entries as rtnetlink messages (rtnetlink(7), linux/neighbour.h). Pure bytes. */
import { type Ipv4, addressToBytes } from '../addresses/cidr.js';
import { type Mac, macFromBytes, macToBytes } from '../addresses/mac.js';
import { families } from './address-message.js';
import { Attributes, attribute } from './attributes.js';

const NDA = { DST: 1, LLADDR: 2, MASTER: 9 } as const;
/** NUD_*: what the kernel may do with an entry. */
export const neighbourStates = { noArp: 0x40, permanent: 0x80 } as const;
/** The entry is the bridge's, not the port's own. */
const NTF_MASTER = 0x04;
const headerLength = 12;

export interface Neighbour {
  readonly index: number;
  readonly address: Ipv4;
  readonly mac: Mac | undefined;
  readonly permanent: boolean;
}

/** By which port the bridge reaches a MAC. */
export interface ForwardingEntry {
  readonly port: number;
  readonly mac: Mac;
  /** Never learnt, never aged. The bridge's own addresses are NUD_PERMANENT instead, and are not static. */
  readonly isStatic: boolean;
}

function header(family: number, index: number, state: number, flags: number): Buffer {
  const bytes = Buffer.alloc(headerLength);
  bytes.writeUInt8(family);
  bytes.writeInt32LE(index, 4);
  bytes.writeUInt16LE(state, 8);
  bytes.writeUInt8(flags, 10);
  return bytes;
}

/** A permanent entry; without a MAC, what names it for deletion. */
export function neighbourMessage(index: number, address: Ipv4, mac?: Mac): Buffer {
  const parts = [
    header(families.ipv4, index, neighbourStates.permanent, 0),
    attribute(NDA.DST, addressToBytes(address)),
  ];
  if (mac !== undefined) parts.push(attribute(NDA.LLADDR, macToBytes(mac)));
  return Buffer.concat(parts);
}

/** A static entry: NUD_PERMANENT would make the MAC one of the bridge's own. */
export function forwardingMessage(port: number, mac: Mac): Buffer {
  return Buffer.concat([
    header(families.bridge, port, neighbourStates.noArp, NTF_MASTER),
    attribute(NDA.LLADDR, macToBytes(mac)),
  ]);
}

export function neighbourQuery(family: number): Buffer {
  return header(family, 0, 0, 0);
}

export function parseNeighbour(message: Buffer): Neighbour | undefined {
  const attributes = new Attributes(message, headerLength);
  const address = attributes.address(NDA.DST);
  if (address === undefined || message.readUInt8(0) !== families.ipv4) return undefined;
  const mac = attributes.bytes(NDA.LLADDR);
  return {
    index: message.readInt32LE(4),
    address: address as Ipv4,
    mac: mac && macFromBytes(mac),
    permanent: (message.readUInt16LE(8) & neighbourStates.permanent) !== 0,
  };
}

export function parseForwardingEntry(message: Buffer): ForwardingEntry | undefined {
  const attributes = new Attributes(message, headerLength);
  const bytes = attributes.bytes(NDA.LLADDR);
  const mac = bytes && macFromBytes(bytes);
  // A port's own list is shown beside the bridge's; only the latter forwards, and names the bridge.
  if (mac === undefined || attributes.word(NDA.MASTER) === undefined) return undefined;
  return { port: message.readInt32LE(4), mac, isStatic: (message.readUInt16LE(8) & neighbourStates.noArp) !== 0 };
}
