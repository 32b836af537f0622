/** Reads the environment, variable by variable, and collects what is wrong with each. */
import { type Ipv4, type Ipv4Cidr, formatCidr, parseIpv4, parseIpv4Cidr, subnetOf } from './addresses/cidr.js';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export class EnvironmentReader {
  readonly problems: string[] = [];
  constructor(private readonly environment: Environment) {}

  /** The variable's text; `fallback` when it is unset. Set but empty is a value of its own. */
  text(name: string, fallback: string): string {
    return this.environment[name] ?? fallback;
  }

  optional(name: string): string | null {
    return this.environment[name] || null;
  }

  parse<T>(name: string, fallback: string, parse: (text: string) => T | undefined, wanted: string): T {
    const text = this.text(name, fallback);
    const value = parse(text);
    if (value !== undefined) return value;
    this.problems.push(`${name}: ${JSON.stringify(text)} is not ${wanted}`);
    return parse(fallback) as T;
  }

  oneOf<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    return this.parse(name, fallback, (text) => values.find((value) => value === text), `one of ${values.join(', ')}`);
  }

  problem(name: string, sentence: string): void {
    this.problems.push(`${name}: ${sentence}`);
  }
}

/**
 * `host:port`, `[address]:port`; an empty text means no listener and gives null. An IPv4 address may stand in brackets too:
 * whoever writes down somebody else's address, as the chart does for the node's, need not know which kind it is.
 */
export function parseListen(text: string): ListenAddress | null | undefined {
  if (text === '') return null;
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port < 1 || port > 65535 ? undefined : { host, port };
}

export function whole(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

export function parseRate(text: string): { perSecond: number; burst: number } | undefined {
  const match = /^\s*(\d{1,6})\s*,\s*(\d{1,6})\s*$/.exec(text);
  const perSecond = Number(match?.[1]);
  const burst = Number(match?.[2]);
  return perSecond > 0 && burst > 0 ? { perSecond, burst } : undefined;
}

export function parseBridgeSubnet(text: string): Ipv4Cidr | undefined {
  const cidr = parseIpv4Cidr(text);
  if (cidr === undefined || cidr.prefix < 16 || cidr.prefix > 29) return undefined;
  return formatCidr(subnetOf(cidr)) === text ? cidr : undefined;
}

export function parseCredentialsAddress(text: string): { host: Ipv4; port: number } | undefined {
  const listen = parseListen(text);
  const host = listen ? parseIpv4(listen.host) : undefined;
  return listen && host !== undefined ? { host, port: listen.port } : undefined;
}

export const absolutePath = (text: string): string | undefined => (text.startsWith('/') ? text : undefined);
export const interfaceName = (text: string): string | undefined =>
  /^[^\s/:]{1,15}$/.test(text) && text !== '.' && text !== '..' ? text : undefined;
export const instanceName = (text: string): string | undefined =>
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text) ? text : undefined;
export const optionalPath = (text: string): string | null | undefined => (text === '' ? null : absolutePath(text));

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export function parseEndpoint(text: string): string | undefined {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  return text.replace(/\/+$/, '');
}
