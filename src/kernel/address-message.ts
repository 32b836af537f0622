/** Interface addresses as rtnetlink messages (rtnetlink(7), linux/if_addr.h). Pure bytes. */
import { type Cidr, type Ipv4, type Ipv6, addressToBytes } from '../addresses/cidr.js';
import { Attributes, attribute, wordAttribute } from './attributes.js';

export const families = { unspecified: 0, bridge: 7, ipv4: 2, ipv6: 10 } as const;
export type IpFamily = typeof families.ipv4 | typeof families.ipv6;

/** Scopes of addresses and routes (linux/rtnetlink.h, rt_scope_t). */
export const scopes = { universe: 0, link: 253, host: 254 } as const;

const IFA = { ADDRESS: 1, LOCAL: 2, FLAGS: 8 } as const;
const IFA_F = { NODAD: 0x02, DADFAILED: 0x08, TENTATIVE: 0x40, PERMANENT: 0x80 } as const;
const headerLength = 8;

export interface Address extends Cidr<Ipv4 | Ipv6> {
  readonly index: number;
  readonly family: IpFamily;
  readonly scope: number;
  /** IPv6: not usable yet, duplicate address detection is under way. */
  readonly tentative: boolean;
  /** IPv6: somebody else has it. */
  readonly duplicate: boolean;
  /** False for one with a lifetime, as router advertisements and DHCP clients set them. */
  readonly permanent: boolean;
}

export function familyOf(address: Ipv4 | Ipv6): IpFamily {
  return address.includes(':') ? families.ipv6 : families.ipv4;
}

/** IPv6 addresses skip duplicate address detection: they are usable as soon as the link is up. */
export function addressMessage(index: number, cidr: Cidr<Ipv4 | Ipv6>, scope: number): Buffer {
  const family = familyOf(cidr.address);
  const header = Buffer.alloc(headerLength);
  header.set([family, cidr.prefix, 0, scope]);
  header.writeUInt32LE(index, 4);
  const bytes = addressToBytes(cidr.address);
  const parts = [header, attribute(IFA.LOCAL, bytes), attribute(IFA.ADDRESS, bytes)];
  if (family === families.ipv6) parts.push(wordAttribute(IFA.FLAGS, IFA_F.NODAD));
  return Buffer.concat(parts);
}

export function addressQuery(family: number): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeUInt8(family);
  return header;
}

export function parseAddress(message: Buffer): Address | undefined {
  const attributes = new Attributes(message, headerLength);
  const address = attributes.address(IFA.LOCAL) ?? attributes.address(IFA.ADDRESS);
  if (address === undefined) return undefined;
  const flags = attributes.word(IFA.FLAGS) ?? message.readUInt8(2);
  return {
    address,
    prefix: message.readUInt8(1),
    family: familyOf(address),
    index: message.readUInt32LE(4),
    scope: message.readUInt8(3),
    tentative: (flags & IFA_F.TENTATIVE) !== 0,
    duplicate: (flags & IFA_F.DADFAILED) !== 0,
    permanent: (flags & IFA_F.PERMANENT) !== 0,
  };
}
