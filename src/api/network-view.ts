/** A record as callers see it. Pure. */
import { type Cidr, type Ipv4, type Ipv6, formatCidr } from '../addresses/cidr.js';
import type { Lease } from '../dhcp/lease.js';
import type { AttachmentRecord } from '../store/record.js';
import type { CredentialsViewDto, EniViewDto, LeaseDto, LinkLocalDto, NetworkDto, StepDto } from './network.dto.js';

/** What the record does not hold because it changes by itself. */
export interface LiveParts {
  readonly lease: Lease | undefined;
  /** When the task's present credentials end, in milliseconds since the epoch. */
  readonly credentialsExpiration: number | null;
}

export function viewNetwork(record: AttachmentRecord, bridge: string, live: LiveParts): NetworkDto {
  return {
    taskId: record.taskId,
    state: record.state,
    networkMode: networkModeOf(record),
    labels: { ...record.request.labels },
    sandbox: viewSandbox(record),
    eni: viewEni(record),
    linkLocal: viewLinkLocal(record, bridge),
    blockInstanceMetadata: record.request.blockInstanceMetadata,
    lease: viewLease(live.lease),
    credentials: viewCredentials(record, live.credentialsExpiration),
    environment: environmentOf(record),
    steps: record.outcomes.map(viewStep),
    createdAt: instant(record.createdAt),
    readyAt: record.readyAt === null ? null : instant(record.readyAt),
    attachMs: record.readyAt === null ? null : tenths(record.readyAt - record.createdAt),
    warnings: [...record.warnings],
    error: record.error === null ? null : { ...record.error },
  };
}

/** `container:<id>` as Docker takes it; `ns:<path>` as Podman and other OCI runtimes do. */
function networkModeOf({ sandbox }: AttachmentRecord): string | null {
  if (sandbox === null) return null;
  return sandbox.containerId === null ? `ns:${sandbox.netns}` : `container:${sandbox.containerId}`;
}

function viewSandbox({ sandbox }: AttachmentRecord): NetworkDto['sandbox'] {
  if (sandbox === null) return null;
  const { kind, containerId, pid, owned } = sandbox;
  // Docker's own mount of the namespace is its business, and elsewhere on each engine: callers get what they know.
  const netns = containerId === null || pid === null ? sandbox.netns : `/proc/${pid}/ns/net`;
  return { kind, containerId, pid, netns, owned };
}

function viewEni({ eni, request }: AttachmentRecord): EniViewDto {
  const { id, mac, ipv4, ipv4Gateway, ipv6, ipv6Gateway, mtu } = eni ?? request.eni;
  return {
    id,
    macAddress: mac,
    interface: eni?.interface ?? null,
    hostInterface: eni?.hostInterface ?? null,
    ipv4Address: cidrText(ipv4),
    ipv4Gateway,
    ipv6Address: cidrText(ipv6),
    ipv6Gateway,
    mtu,
  };
}

function cidrText(cidr: Cidr<Ipv4 | Ipv6> | null): string | null {
  return cidr === null ? null : formatCidr(cidr);
}

function viewLinkLocal({ linkLocal }: AttachmentRecord, bridge: string): LinkLocalDto | null {
  if (linkLocal === null) return null;
  return { bridge, hostInterface: linkLocal.port, interface: linkLocal.interface, ipv4Address: linkLocal.address };
}

function viewLease(lease: Lease | undefined): LeaseDto {
  if (lease === undefined) return { client: null, state: 'off', expiresAt: null };
  return {
    client: lease.client,
    state: lease.state,
    expiresAt: lease.expiresAt === null ? null : secondsInstant(lease.expiresAt),
  };
}

function viewCredentials(record: AttachmentRecord, expiration: number | null): CredentialsViewDto | null {
  const { credentials } = record;
  if (credentials === null) return null;
  return {
    source: credentials.source,
    roleArn: credentials.roleArn,
    relativeUri: relativeUriOf(record),
    expiration: expiration === null ? null : secondsInstant(expiration),
  };
}

/** None once the credentials are deleted, though the id is kept for a later PUT. */
function relativeUriOf({ credentials, credentialsId }: AttachmentRecord): string | null {
  return credentials === null || credentialsId === null ? null : `/v2/credentials/${credentialsId}`;
}

function environmentOf(record: AttachmentRecord): Record<string, string> {
  const { region } = record;
  const relativeUri = relativeUriOf(record);
  return {
    ...(relativeUri !== null && { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relativeUri }),
    ...(region !== null && { AWS_REGION: region, AWS_DEFAULT_REGION: region }),
    ...(record.request.blockInstanceMetadata && { AWS_EC2_METADATA_DISABLED: 'true' }),
  };
}

function viewStep({ name, state, startedAt, durationMs }: AttachmentRecord['outcomes'][number]): StepDto {
  return {
    name,
    state,
    startedAt: startedAt === null ? null : instant(startedAt),
    durationMs: durationMs === null ? null : tenths(durationMs),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Without the fraction, as the credentials endpoint of ECS writes times. */
function secondsInstant(milliseconds: number): string {
  return instant(milliseconds).replace(/\.\d+Z$/, 'Z');
}
