import ipaddr from 'ipaddr.js';

declare const ipv4Brand: unique symbol;
declare const ipv6Brand: unique symbol;

/** An IPv4 address in dotted decimals, e.g. `172.31.13.14`. */
export type Ipv4 = string & { readonly [ipv4Brand]: true };
/** An IPv6 address in RFC 5952 form, e.g. `2001:db8:1::5`. */
export type Ipv6 = string & { readonly [ipv6Brand]: true };

/** An interface address with the length of its subnet's prefix; `address` keeps its host part. */
export interface Cidr<A extends Ipv4 | Ipv6> {
  readonly address: A;
  readonly prefix: number;
}
export type Ipv4Cidr = Cidr<Ipv4>;
export type Ipv6Cidr = Cidr<Ipv6>;

export function parseIpv4(text: string): Ipv4 | undefined {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? (ipaddr.IPv4.parse(text).toString() as Ipv4) : undefined;
}

/** A zone (`fe80::1%eth0`) and an embedded IPv4 address are refused: neither names an address of an ENI. */
export function parseIpv6(text: string): Ipv6 | undefined {
  if (!ipaddr.IPv6.isValid(text) || text.includes('%') || text.includes('.')) return undefined;
  return ipaddr.IPv6.parse(text).toRFC5952String() as Ipv6;
}

function parseCidr<A extends Ipv4 | Ipv6>(
  text: string,
  parseAddress: (text: string) => A | undefined,
  longest: number,
): Cidr<A> | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = match?.[1] === undefined ? undefined : parseAddress(match[1]);
  const prefix = Number(match?.[2]);
  return address === undefined || prefix > longest ? undefined : { address, prefix };
}

export function parseIpv4Cidr(text: string): Ipv4Cidr | undefined {
  return parseCidr(text, parseIpv4, 32);
}

export function parseIpv6Cidr(text: string): Ipv6Cidr | undefined {
  return parseCidr(text, parseIpv6, 128);
}

export function formatCidr(cidr: Cidr<Ipv4 | Ipv6>): string {
  return `${cidr.address}/${cidr.prefix}`;
}

/** Network byte order, 4 or 16 bytes, as rtnetlink takes addresses. */
export function addressToBytes(address: Ipv4 | Ipv6): Buffer {
  return Buffer.from(ipaddr.parse(address).toByteArray());
}

export function addressFromBytes(bytes: Uint8Array): Ipv4 | Ipv6 | undefined {
  if (bytes.length === 4) return new ipaddr.IPv4([...bytes]).toString() as Ipv4;
  if (bytes.length === 16) return new ipaddr.IPv6([...bytes]).toRFC5952String() as Ipv6;
  return undefined;
}

export function contains<A extends Ipv4 | Ipv6>(subnet: Cidr<A>, address: A): boolean {
  return ipaddr.parse(address).match(ipaddr.parse(subnet.address), subnet.prefix);
}

export function ipv4ToNumber(address: Ipv4): number {
  return addressToBytes(address).readUInt32BE();
}

export function ipv4FromNumber(value: number): Ipv4 {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return addressFromBytes(bytes) as Ipv4;
}

/** The number of the subnet's network address, e.g. 172.31.0.0 of 172.31.13.14/20. */
export function networkNumber(cidr: Ipv4Cidr): number {
  const mask = cidr.prefix === 0 ? 0 : (~0 << (32 - cidr.prefix)) >>> 0;
  return (ipv4ToNumber(cidr.address) & mask) >>> 0;
}

/** The subnet with its host part cleared, e.g. 172.31.0.0/20 of 172.31.13.14/20. */
export function subnetOf(cidr: Ipv4Cidr): Ipv4Cidr {
  return { address: ipv4FromNumber(networkNumber(cidr)), prefix: cidr.prefix };
}

/** The subnet's first usable address: where a VPC has its router (AWS VPC User Guide, "Subnet sizing"). */
export function firstUsable(cidr: Ipv4Cidr): Ipv4 {
  return ipv4FromNumber(networkNumber(cidr) + 1);
}
