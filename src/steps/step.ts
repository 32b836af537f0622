import type { Ipv4, Ipv4Cidr, Ipv6, Ipv6Cidr } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import type { CredentialsIdentity, DnsRequest } from '../attachments/request.js';

/** How the link was before the attach, and is again after the detach. */
export interface FormerLink {
  readonly name: string;
  readonly mtu: number;
  readonly txQueueLength: number;
  /** IFF_NOARP, IFF_PROMISC and IFF_ALLMULTI (linux/if.h) as they were. */
  readonly flags: number;
}

/** Which sandbox the task gets: one that the service makes and owns, or one of the caller's. */
export type SandboxPlan =
  | {
      readonly kind: 'docker';
      readonly owned: true;
      readonly name: string;
      readonly image: string;
      readonly dns: DnsRequest | null;
      readonly hosts: readonly string[];
    }
  | {
      readonly kind: 'netns';
      readonly owned: true;
      readonly name: string;
      readonly dns: DnsRequest | null;
      readonly hosts: readonly string[];
    }
  | { readonly kind: 'docker'; readonly owned: false; readonly containerId: string }
  | { readonly kind: 'pid'; readonly owned: false; readonly pid: number }
  | { readonly kind: 'netns'; readonly owned: false; readonly path: string };

/**
 * What each kind of step is told. The planner chooses every name and value, so a plan can be compared, stored and shown;
 * a handler looks up only what the kernel alone knows at that moment (an ifindex, a container's pid).
 */
export interface StepArgs {
  'reserve-address': { readonly address: Ipv4 };
  'prepare-sandbox': { readonly sandbox: SandboxPlan };
  /** Addresses, routes, ip rules and DHCP client that the host may have put on the ENI. Has no undo. */
  'clear-host-config': { readonly mac: Mac };
  'connect-bridge': {
    readonly port: string;
    readonly alias: string;
    readonly interface: string;
    readonly address: Ipv4;
    readonly mac: Mac;
  };
  'move-eni': { readonly mac: Mac; readonly alias: string; readonly former: FormerLink };
  'configure-eni': {
    readonly mac: Mac;
    readonly interface: string;
    readonly ipv4: Ipv4Cidr | null;
    readonly ipv4Gateway: Ipv4 | null;
    readonly ipv6: Ipv6Cidr | null;
    readonly ipv6Gateway: Ipv6 | null;
    readonly mtu: number;
    readonly blockInstanceMetadata: boolean;
  };
  'register-credentials': { readonly id: string; readonly address: Ipv4; readonly credentials: CredentialsIdentity };
  'start-dhcp': { readonly interface: string; readonly ipv4: Ipv4 | null; readonly ipv6: Ipv6 | null };
}

export type StepKind = keyof StepArgs;

/** A step as plain JSON: `{ kind, ...args }`. */
export type Step<K extends StepKind = StepKind> = { [P in K]: { readonly kind: P } & StepArgs[P] }[K];

/** What is timed and shown like a step but changes nothing, so has nothing to undo. */
export type WaitKind = 'wait-for-eni' | 'read-metadata';

export type StepState = 'pending' | 'running' | 'done' | 'failed' | 'undone';

export interface StepOutcome {
  readonly name: StepKind | WaitKind;
  readonly state: StepState;
  /** Milliseconds since the epoch. */
  readonly startedAt: number | null;
  readonly durationMs: number | null;
}
