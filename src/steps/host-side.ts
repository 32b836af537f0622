import type { Mac } from '../addresses/mac.js';
import type { Link } from '../kernel/link-message.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';

/** The host's own namespace, as the steps that take an ENI from it and bring it home need it. */
export interface HostSide {
  readonly namespace: Namespace;
  readonly session: NetlinkSession;
  /** The ENI while it is on the host. Throws unusable-eni when two links bear its MAC. */
  readonly findEni: (mac: Mac) => Promise<Link | undefined>;
  readonly bootId: string;
}
