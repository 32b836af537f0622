import type { EniSlots } from '../capacity/capacity.js';
import type { Identity } from '../metadata/host-identity.js';
import type { State } from '../store/record.js';

/** The states of a DHCP client that is there. */
export const dhcpStates = ['starting', 'bound', 'renewing', 'expired', 'failed'] as const;
export type DhcpState = (typeof dhcpStates)[number];

/** Where the values come from that are as they are when somebody looks. */
export interface Sources {
  readonly slots: () => Promise<EniSlots>;
  readonly identity: () => Identity;
  /** The state of each record. */
  readonly tasks: () => readonly State[];
  readonly linkLocal: () => { readonly capacity: number; readonly allocated: number };
  /** Milliseconds since the epoch; null when no task has credentials. */
  readonly earliestExpiry: () => number | null;
  /** The state of each client. */
  readonly dhcpClients: () => readonly DhcpState[];
  readonly orphans: () => number;
}
