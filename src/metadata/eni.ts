import {
  contains,
  type Ipv4Cidr,
  type Ipv6Cidr,
  parseIpv4,
  parseIpv4Cidr,
  parseIpv6,
  parseIpv6Cidr,
} from '../addresses/cidr.js';
import { type Mac, parseMac } from '../addresses/mac.js';
import { TaskEniError } from '../errors.js';

/**
 * What is read of an ENI below network/interfaces/macs/<mac>/ (EC2 User Guide, "Instance metadata categories").
 * Not vpc-ipv4-cidr-blocks: it lists every range of the VPC, and the ENI's own need not come first.
 */
export const eniKeys = [
  'interface-id',
  'local-ipv4s',
  'subnet-ipv4-cidr-block',
  'ipv6s',
  'subnet-ipv6-cidr-blocks',
] as const;
export type EniKey = (typeof eniKeys)[number];
/** The keys that answered so far, as their text. */
export type EniKeys = Partial<Readonly<Record<EniKey, string>>>;

/** One address family of an ENI. Metadata fills in key by key, so what is half there may be whole a second later. */
export type Family<C> =
  | { readonly state: 'complete'; readonly cidr: C; readonly unused: readonly string[] }
  | { readonly state: 'partial'; readonly missing: readonly EniKey[] }
  | { readonly state: 'absent' };

export interface Families {
  readonly ipv4: Family<Ipv4Cidr>;
  readonly ipv6: Family<Ipv6Cidr>;
}

function lines(value: string | undefined): string[] {
  return (value ?? '').split(/\s+/).filter((line) => line !== '');
}

/** Anything else under interface-id is no id: a page of a portal or a proxy, say. */
export function parseEniId(text: string | undefined): string | undefined {
  return /^eni-[0-9A-Za-z-]+$/.test(text ?? '') ? text : undefined;
}

/** Reads network/interfaces/macs/, a line each with a slash at its end. */
export function parseMacListing(listing: string | undefined): Mac[] {
  return lines(listing).flatMap((line) => parseMac(line.replace(/\/$/, '')) ?? []);
}

/** The primary address is the first of local-ipv4s. Throws unusable-eni for a mask that a VPC cannot have. */
export function readIpv4(keys: EniKeys): Family<Ipv4Cidr> {
  const [first, ...unused] = lines(keys['local-ipv4s']);
  const block = parseIpv4Cidr(keys['subnet-ipv4-cidr-block'] ?? '');
  if (first === undefined && block === undefined) return { state: 'absent' };
  // A VPC subnet is a /16 to a /28 (VPC User Guide, "Subnet CIDR blocks").
  if (block !== undefined && (block.prefix < 16 || block.prefix > 28))
    throw new TaskEniError(
      'unusable-eni',
      `instance metadata gives the ENI the subnet ${keys['subnet-ipv4-cidr-block']}, and a VPC has subnets of /16 to /28 only`,
    );
  const address = parseIpv4(first ?? '');
  if (address === undefined) return { state: 'partial', missing: ['local-ipv4s'] };
  if (block === undefined || !contains(block, address))
    return { state: 'partial', missing: ['subnet-ipv4-cidr-block'] };
  return { state: 'complete', cidr: { address, prefix: block.prefix }, unused };
}

/** The first of ipv6s, with the prefix of that of the subnet's blocks which holds it. */
export function readIpv6(keys: EniKeys): Family<Ipv6Cidr> {
  const [first, ...unused] = lines(keys.ipv6s);
  const blocks = lines(keys['subnet-ipv6-cidr-blocks']).flatMap((line) => parseIpv6Cidr(line) ?? []);
  if (first === undefined && blocks.length === 0) return { state: 'absent' };
  const address = parseIpv6(first ?? '');
  if (address === undefined) return { state: 'partial', missing: ['ipv6s'] };
  const block = blocks.find((candidate) => contains(candidate, address));
  if (block === undefined) return { state: 'partial', missing: ['subnet-ipv6-cidr-blocks'] };
  return { state: 'complete', cidr: { address, prefix: block.prefix }, unused };
}

export type Judgement =
  | {
      readonly kind: 'complete';
      readonly ipv4: Ipv4Cidr | null;
      readonly ipv6: Ipv6Cidr | null;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'wait'; readonly missing: readonly EniKey[] };

/**
 * Whether the ENI is known well enough to be attached. One family is enough when there is no sign of the other in
 * metadata; when there is, that is waited for until `settled`, and then done without, with a warning.
 * `certain`: every key was asked for and answered, and metadata knows the ENI, so that an absent key means something.
 */
export function judge(
  { ipv4, ipv6 }: Families,
  { certain, settled }: { certain: boolean; settled: boolean },
): Judgement {
  const missing = missingOf({ ipv4, ipv6 });
  if (ipv4.state !== 'complete' && ipv6.state !== 'complete') return { kind: 'wait', missing };
  const lagging = !certain || ipv4.state === 'partial' || ipv6.state === 'partial';
  if (lagging && !settled) return { kind: 'wait', missing };
  return {
    kind: 'complete',
    ipv4: ipv4.state === 'complete' ? ipv4.cidr : null,
    ipv6: ipv6.state === 'complete' ? ipv6.cidr : null,
    warnings: [...unusedWarnings(ipv4), ...unusedWarnings(ipv6), ...laggingWarnings({ ipv4, ipv6 }, certain)],
  };
}

function missingOf({ ipv4, ipv6 }: Families): readonly EniKey[] {
  if (ipv4.state === 'absent' && ipv6.state === 'absent') return ['local-ipv4s', 'subnet-ipv4-cidr-block'];
  return [ipv4, ipv6].flatMap((family) => (family.state === 'partial' ? family.missing : []));
}

function unusedWarnings(family: Family<unknown>): string[] {
  if (family.state !== 'complete' || family.unused.length === 0) return [];
  return [`the ENI's further addresses are not configured: ${family.unused.join(', ')}`];
}

function laggingWarnings({ ipv4, ipv6 }: Families, certain: boolean): string[] {
  const without = (family: string, missing: readonly EniKey[]) =>
    `the ENI has no ${family} address: its subnet is in instance metadata, but ${missing.join(', ')} did not follow in time`;
  return [
    ...(certain ? [] : ['instance metadata did not tell whether the ENI has further addresses']),
    ...(ipv4.state === 'partial' ? [without('IPv4', ipv4.missing)] : []),
    ...(ipv6.state === 'partial' ? [without('IPv6', ipv6.missing)] : []),
  ];
}
