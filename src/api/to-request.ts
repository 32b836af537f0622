/** From a checked body to what the domain is asked for, defaults filled in. Pure. */
import { parseIpv4, parseIpv4Cidr, parseIpv6, parseIpv6Cidr } from '../addresses/cidr.js';
import { parseMac } from '../addresses/mac.js';
import type {
  AttachRequest,
  CredentialsRequest,
  DnsRequest,
  EniRequest,
  SandboxRequest,
} from '../attachments/request.js';
import type { Settings } from '../settings.js';
import type { AttachDto } from './attach.dto.js';
import type { CredentialsDto } from './credentials.dto.js';
import type { DnsDto } from './dns.dto.js';
import type { EniDto } from './eni.dto.js';
import { readInstant } from './field-readers.js';
import type { SandboxDto } from './sandbox.dto.js';

export function toRequest(body: AttachDto, settings: Pick<Settings, 'blockInstanceMetadata'>): AttachRequest {
  return {
    eni: toEni(body.eni),
    sandbox: body.sandbox === undefined ? null : toSandbox(body.sandbox),
    blockInstanceMetadata: body.blockInstanceMetadata ?? settings.blockInstanceMetadata,
    dns: body.dns === undefined ? null : toDns(body.dns),
    dhcp: body.dhcp ?? true,
    labels: { ...body.labels },
    credentials: body.credentials === undefined ? null : toCredentials(body.credentials),
  };
}

/** The value of a field that a check has already found readable; null when it was left out. */
function read<T>(parse: (text: string) => T | undefined, text: string | undefined): T | null {
  return text === undefined ? null : (parse(text) ?? null);
}

function toEni(eni: EniDto): EniRequest {
  return {
    id: eni.id ?? null,
    mac: read(parseMac, eni.macAddress),
    ipv4: read(parseIpv4Cidr, eni.ipv4Address),
    ipv4Gateway: read(parseIpv4, eni.ipv4Gateway),
    ipv6: read(parseIpv6Cidr, eni.ipv6Address),
    ipv6Gateway: read(parseIpv6, eni.ipv6Gateway),
    mtu: eni.mtu ?? null,
  };
}

function toSandbox(sandbox: SandboxDto): SandboxRequest {
  if ('containerId' in sandbox) return { kind: 'container', containerId: sandbox.containerId };
  if ('pid' in sandbox) return { kind: 'pid', pid: sandbox.pid };
  return { kind: 'netns', path: sandbox.netns };
}

function toDns(dns: DnsDto): DnsRequest {
  return { servers: dns.servers ?? [], search: dns.search ?? [], hostname: dns.hostname ?? null };
}

export function toCredentials(credentials: CredentialsDto): CredentialsRequest {
  if (credentials.source === 'pushed') {
    const { source, roleArn, accessKeyId, secretAccessKey, sessionToken } = credentials;
    const expiration = readInstant(credentials.expiration) ?? 0;
    return { source, roleArn, accessKeyId, secretAccessKey, sessionToken, expiration };
  }
  return {
    source: 'assume-role',
    roleArn: credentials.roleArn,
    sessionName: credentials.sessionName ?? null,
    durationSeconds: credentials.durationSeconds ?? 3600,
    externalId: credentials.externalId ?? null,
    tags: { ...credentials.tags },
  };
}
