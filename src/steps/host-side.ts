import type { Link } from '../kernel/link-message.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';

/** The host's own namespace, as the steps that take an ENI from it and bring it home need it. */
export interface HostSide {
  readonly namespace: Namespace;
  readonly session: NetlinkSession;
  /** A listing of the host's links, shared with whoever asks at the same time. */
  readonly listLinks: () => Promise<Link[]>;
  readonly bootId: string;
}
