/** What addresses a caller may give, stricter than what parses: only those that an ENI or a gateway can have. Pure. */
import ipaddr from 'ipaddr.js';
import {
  type Ipv4,
  type Ipv4Cidr,
  type Ipv6,
  type Ipv6Cidr,
  ipv4ToNumber,
  networkNumber,
  parseIpv4,
  parseIpv4Cidr,
  parseIpv6,
  parseIpv6Cidr,
} from '../addresses/cidr.js';
import { type Mac, parseMac } from '../addresses/mac.js';

/** Reads a unicast hardware address; a group address (lowest bit of the first byte, IEEE 802) never names an interface. */
export function readEniMac(text: string): Mac | undefined {
  const mac = parseMac(text);
  if (mac === undefined || mac === '00:00:00:00:00:00') return undefined;
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0 ? mac : undefined;
}

const neverAHostV4 = new Set(['unspecified', 'broadcast', 'multicast', 'linkLocal', 'loopback']);

/** Reads a host's IPv4 address: not loopback, multicast, broadcast, unspecified or link-local. */
export function readGatewayV4(text: string): Ipv4 | undefined {
  const address = parseIpv4(text);
  return address !== undefined && !neverAHostV4.has(ipaddr.IPv4.parse(address).range()) ? address : undefined;
}

/** Reads a host's address in a VPC subnet: /16 to /28 (AWS VPC User Guide, "Subnet sizing"), neither the network's own nor its broadcast address. */
export function readInterfaceV4(text: string): Ipv4Cidr | undefined {
  const cidr = parseIpv4Cidr(text);
  if (cidr === undefined || cidr.prefix < 16 || cidr.prefix > 28) return undefined;
  if (readGatewayV4(cidr.address) === undefined) return undefined;
  const host = ipv4ToNumber(cidr.address) - networkNumber(cidr);
  return host === 0 || host === 2 ** (32 - cidr.prefix) - 1 ? undefined : cidr;
}

const neverAHostV6 = new Set(['unspecified', 'loopback', 'multicast', 'ipv4Mapped']);

/** Reads a gateway's IPv6 address; link-local ones are what routers advertise. */
export function readGatewayV6(text: string): Ipv6 | undefined {
  const address = parseIpv6(text);
  return address !== undefined && !neverAHostV6.has(ipaddr.IPv6.parse(address).range()) ? address : undefined;
}

/** Reads an ENI's IPv6 address: global or unique local. */
export function readInterfaceV6(text: string): Ipv6Cidr | undefined {
  const cidr = parseIpv6Cidr(text);
  if (cidr === undefined || cidr.prefix < 1 || readGatewayV6(cidr.address) === undefined) return undefined;
  return ipaddr.IPv6.parse(cidr.address).range() === 'linkLocal' ? undefined : cidr;
}

/** Reads an address of a name server, of either family. */
export function readNameServer(text: string): Ipv4 | Ipv6 | undefined {
  return parseIpv4(text) ?? parseIpv6(text);
}

/** Reads a date and time with its offset from UTC (RFC 3339) as milliseconds since the epoch. */
export function readInstant(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const instant = Date.parse(text.toUpperCase());
  return Number.isNaN(instant) ? undefined : instant;
}
