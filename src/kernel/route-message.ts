/** Routes as rtnetlink messages (rtnetlink(7), linux/rtnetlink.h). Pure bytes. */
import { type Cidr, type Ipv4, type Ipv6, addressToBytes } from '../addresses/cidr.js';
import { type IpFamily, families, familyOf, scopes } from './address-message.js';
import { Attributes, attribute, wordAttribute } from './attributes.js';

const RTA = { DST: 1, OIF: 4, GATEWAY: 5, PRIORITY: 6, MULTIPATH: 9, TABLE: 15 } as const;
const RTM_F_CLONED = 0x200;
const headerLength = 12;

export const tables = { default: 253, main: 254, local: 255 } as const;
/** Who made a route: rtm_protocol. */
export const routeOrigins = { kernel: 2, boot: 3, static: 4, routerAdvertisement: 9 } as const;

const routeTypes = {
  unicast: 1,
  local: 2,
  broadcast: 3,
  anycast: 4,
  multicast: 5,
  blackhole: 6,
  unreachable: 7,
} as const;
export type RouteType = keyof typeof routeTypes | 'other';

export interface Route {
  readonly family: IpFamily;
  readonly type: RouteType;
  /** Prefix 0: a default route. */
  readonly destination: Cidr<Ipv4 | Ipv6>;
  readonly gateway: Ipv4 | Ipv6 | undefined;
  /** Index of the link it leaves by; absent for a blackhole and for one with several next hops. */
  readonly index: number | undefined;
  /** Indexes of the links of all next hops; one for a simple route. */
  readonly hops: readonly number[];
  readonly table: number;
  readonly origin: number;
  readonly metric: number | undefined;
}

/** A route to be made in the main table. */
export interface NewRoute {
  readonly destination: Cidr<Ipv4 | Ipv6>;
  readonly type?: 'unicast' | 'blackhole';
  readonly gateway?: Ipv4 | Ipv6 | undefined;
  readonly index?: number | undefined;
}

export const defaultIpv4: Cidr<Ipv4> = { address: '0.0.0.0' as Ipv4, prefix: 0 };
export const defaultIpv6: Cidr<Ipv6> = { address: '::' as Ipv6, prefix: 0 };

export function routeMessage(route: NewRoute): Buffer {
  const { destination, type = 'unicast', gateway, index } = route;
  const direct = type === 'unicast' && gateway === undefined;
  const header = Buffer.alloc(headerLength);
  header.set([familyOf(destination.address), destination.prefix, 0, 0]);
  header.set([tables.main, routeOrigins.static, direct ? scopes.link : scopes.universe, routeTypes[type]], 4);
  const parts: Buffer[] = [header];
  if (destination.prefix > 0) parts.push(attribute(RTA.DST, addressToBytes(destination.address)));
  if (gateway !== undefined) parts.push(attribute(RTA.GATEWAY, addressToBytes(gateway)));
  if (index !== undefined) parts.push(wordAttribute(RTA.OIF, index));
  return Buffer.concat(parts);
}

export function routeQuery(family: number): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeUInt8(family);
  return header;
}

function readType(number: number): RouteType {
  const entry = Object.entries(routeTypes).find(([, value]) => value === number);
  return (entry?.[0] as RouteType | undefined) ?? 'other';
}

/** Indexes in an array of struct rtnexthop: length (16 bits), flags, hops, ifindex (32 bits), attributes. */
function readHops(multipath: Buffer): number[] {
  const hops: number[] = [];
  for (let at = 0; at + 8 <= multipath.length;) {
    hops.push(multipath.readInt32LE(at + 4));
    at += Math.max(8, (multipath.readUInt16LE(at) + 3) & ~3);
  }
  return hops;
}

/** Undefined for families that are not IP, and for cached copies of a route. */
export function parseRoute(message: Buffer): Route | undefined {
  const family = message.readUInt8(0);
  if (family !== families.ipv4 && family !== families.ipv6) return undefined;
  if ((message.readUInt32LE(8) & RTM_F_CLONED) !== 0) return undefined;
  const attributes = new Attributes(message, headerLength);
  const unspecified = family === families.ipv4 ? defaultIpv4.address : defaultIpv6.address;
  const index = attributes.word(RTA.OIF);
  const multipath = attributes.bytes(RTA.MULTIPATH);
  return {
    family,
    type: readType(message.readUInt8(7)),
    destination: { address: attributes.address(RTA.DST) ?? unspecified, prefix: message.readUInt8(1) },
    gateway: attributes.address(RTA.GATEWAY),
    index,
    hops: multipath === undefined ? (index === undefined ? [] : [index]) : readHops(multipath),
    table: attributes.word(RTA.TABLE) ?? message.readUInt8(4),
    origin: message.readUInt8(5),
    metric: attributes.word(RTA.PRIORITY),
  };
}
