import type { Ipv4, Ipv4Cidr, Ipv6, Ipv6Cidr } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';

/** What the agent asks for, parsed and with defaults filled in; null is what metadata or the kernel has yet to say. */
export interface AttachRequest {
  readonly eni: EniRequest;
  readonly sandbox: SandboxRequest | null;
  readonly blockInstanceMetadata: boolean;
  readonly dns: DnsRequest | null;
  readonly dhcp: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly credentials: CredentialsRequest | null;
}

export interface EniRequest {
  readonly id: string | null;
  readonly mac: Mac | null;
  readonly ipv4: Ipv4Cidr | null;
  readonly ipv4Gateway: Ipv4 | null;
  readonly ipv6: Ipv6Cidr | null;
  readonly ipv6Gateway: Ipv6 | null;
  readonly mtu: number | null;
}

/** A sandbox that the caller made and keeps. */
export type SandboxRequest =
  | { readonly kind: 'container'; readonly containerId: string }
  | { readonly kind: 'pid'; readonly pid: number }
  | { readonly kind: 'netns'; readonly path: string };

export interface DnsRequest {
  readonly servers: readonly string[];
  readonly search: readonly string[];
  readonly hostname: string | null;
}

export interface AssumeRoleRequest {
  readonly source: 'assume-role';
  readonly roleArn: string;
  readonly sessionName: string | null;
  /** Seconds, 900 to 43200. */
  readonly durationSeconds: number;
  readonly externalId: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** Credentials that the agent hands over. Secret: never stored under the state folder, logged or answered. */
export interface PushedCredentials {
  readonly source: 'pushed';
  readonly roleArn: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** Milliseconds since the epoch. */
  readonly expiration: number;
}

export type CredentialsRequest = AssumeRoleRequest | PushedCredentials;

/** What of a credentials request may be stored and compared: everything but the secrets. */
export type CredentialsIdentity = AssumeRoleRequest | { readonly source: 'pushed'; readonly roleArn: string };
