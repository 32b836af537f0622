import type { Logger } from 'pino';
import type { AddressPool } from '../addresses/pool.js';
import type { BridgeNamespace } from '../bridge/bridge-namespace.js';
import type { TaskCredentials } from '../credentials/task-credentials.js';
import type { DhcpClients } from '../dhcp/dhcp-clients.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import type { EniIds } from '../metadata/eni-ids.js';
import type { HostIdentity } from '../metadata/host-identity.js';
import type { InstanceMetadata } from '../metadata/instance-metadata.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import type { Settings } from '../settings.js';
import type { Handlers } from '../steps/run-plan.js';
import { TaskContext } from '../steps/task-context.js';
import type { HostLinks } from './host-links.js';
import type { Operations } from './operations.js';
import type { Orphans } from './orphans.js';
import type { CredentialsRequest } from './request.js';
import type { Retries } from './retries.js';
import type { TaskRecords } from './task-records.js';

/** The host as the operations on tasks see it: every part that they act on, made once at start. */
export interface Host {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly bootId: string;
  /** What the service makes when a request names no sandbox; decided at start. */
  readonly sandboxKind: 'docker' | 'netns';
  readonly records: TaskRecords;
  readonly operations: Operations;
  readonly orphans: Orphans;
  readonly retries: Retries;
  readonly pool: AddressPool;
  readonly links: HostLinks;
  readonly hostNamespace: Namespace;
  readonly hostNetlink: NetlinkSession;
  readonly metadata: InstanceMetadata;
  readonly eniIds: EniIds;
  readonly identity: HostIdentity;
  readonly sandboxes: Sandboxes;
  readonly bridge: BridgeNamespace;
  readonly credentials: TaskCredentials;
  readonly dhcp: DhcpClients;
  readonly metrics: Metrics;
  readonly handlers: Handlers<TaskContext>;
}

/** What the steps of one operation on the task share. To be released when the operation ends. */
export function openContext(
  host: Pick<Host, 'records' | 'sandboxes' | 'logger' | 'bootId'>,
  hash: string,
  credentials: CredentialsRequest | null,
  signal: AbortSignal,
): TaskContext {
  return new TaskContext({
    hash,
    credentials,
    signal,
    record: () => host.records.of(hash),
    update: (change) => void host.records.patch(hash, change),
    keep: (change) => host.records.keep(hash, change),
    // Namespace cookies count from the same number after each boot, so one of an earlier boot proves nothing.
    open: ({ sandbox, bootId }) =>
      sandbox === null || bootId !== host.bootId ? undefined : host.sandboxes.open(sandbox),
    logger: host.logger,
  });
}
