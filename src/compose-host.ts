import type { Mac } from './addresses/mac.js';
import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { AddressPool } from './addresses/pool.js';
import { serviceVersion } from './api/service-version.js';
import { HostLinks } from './attachments/host-links.js';
import type { Host } from './attachments/host.js';
import { Operations } from './attachments/operations.js';
import { Orphans } from './attachments/orphans.js';
import { Retries } from './attachments/retries.js';
import { TaskRecords } from './attachments/task-records.js';
import { BridgeNamespace } from './bridge/bridge-namespace.js';
import { CredentialsServer } from './credentials/credentials-server.js';
import { PushedStore } from './credentials/pushed-store.js';
import { StsSource } from './credentials/sts.js';
import { TaskCredentials } from './credentials/task-credentials.js';
import { findDhclient } from './dhcp/dhclient.js';
import { DhcpClients } from './dhcp/dhcp-clients.js';
import { isErrno } from './kernel/errno.js';
import { type Namespace, openNamespace, ownNamespace } from './kernel/namespaces.js';
import { NetlinkSession } from './kernel/netlink.js';
import { EniIds } from './metadata/eni-ids.js';
import { HostIdentity } from './metadata/host-identity.js';
import { InstanceMetadata } from './metadata/instance-metadata.js';
import { Metrics } from './metrics/metrics.js';
import { BareSandboxes } from './sandboxes/bare.js';
import type { ForbiddenNamespace } from './sandboxes/borrowed.js';
import { DockerSandboxes } from './sandboxes/docker.js';
import { chooseKind } from './sandboxes/sandbox-kind.js';
import { Sandboxes } from './sandboxes/sandboxes.js';
import type { Settings } from './settings.js';
import { stepHandlers } from './steps/handlers.js';
import { LastAddress } from './store/last-address.js';
import type { RecordStore } from './store/record-store.js';

export interface ComposedHost {
  readonly host: Host;
  readonly credentialsServer: CredentialsServer;
}

/** Makes every part that acts on the host. Nothing is changed yet but what the constructors need. */
export function composeHost(settings: Settings, store: RecordStore, logger: Logger, hostPath?: string): ComposedHost {
  const metrics = new Metrics(serviceVersion, logger);
  const hostNamespace = hostPath === undefined ? ownNamespace() : openNamespace(hostPath);
  const hostNetlink = NetlinkSession.open(hostNamespace);
  const metadata = new InstanceMetadata({ endpoint: settings.metadataEndpoint });
  const identity = new HostIdentity(metadata, logger);
  const bridge = new BridgeNamespace(settings, logger);
  const { credentials, credentialsServer } = composeCredentials(settings, bridge, identity, metrics, logger);
  const dhcp = composeDhcp(settings, metrics, logger);
  const docker = new DockerSandboxes(settings, logger);
  const forbidden = forbiddenNamespaces(hostNamespace, bridge);
  const sandboxes = new Sandboxes(docker, new BareSandboxes(settings.instance), forbidden);
  const lastAddress = new LastAddress(settings.stateDir, logger);
  const pool = new AddressPool(settings.bridgeSubnet, lastAddress.read(), (address) => lastAddress.write(address));
  const links = new HostLinks(hostNetlink);
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const hostSide = { namespace: hostNamespace, session: hostNetlink, findEni: (mac: Mac) => links.find(mac), bootId };
  const handlers = stepHandlers({ pool, sandboxes, host: hostSide, bridge, credentials, dhcp });
  const records = new TaskRecords(store, logger);
  const sandboxKind = chooseKind(settings);
  const retries = new Retries();
  const operations = new Operations();
  const known = { pool, logger, metrics, bootId, records, retries, operations };
  const traced = { bridge, sandboxes, settings, sandboxKind, hostNamespace, ...known };
  const host: Host = {
    ...traced,
    orphans: new Orphans(traced),
    links,
    hostNetlink,
    metadata,
    eniIds: new EniIds(metadata),
    identity,
    credentials,
    dhcp,
    handlers,
  };
  return { host, credentialsServer };
}

function composeCredentials(
  settings: Settings,
  bridge: BridgeNamespace,
  identity: HostIdentity,
  metrics: Metrics,
  logger: Logger,
): { credentials: TaskCredentials; credentialsServer: CredentialsServer } {
  const credentialsServer = new CredentialsServer({
    namespace: () => bridge.namespace,
    address: settings.credentialsAddress,
    rate: settings.credentialsRate,
    auditLog: settings.auditLog,
    logger,
    onReport: (report) => metrics.credentialsReported(report),
  });
  const credentials = new TaskCredentials({
    server: credentialsServer,
    source: new StsSource(async () => settings.region ?? (await identity.read()).region),
    store: new PushedStore(settings.runDir, settings.instance),
    logger,
    onRefresh: (outcome) => metrics.credentialsRefreshed(outcome === 'success'),
  });
  return { credentials, credentialsServer };
}

function composeDhcp({ dhcpClient, instance }: Settings, metrics: Metrics, log: Logger): DhcpClients {
  const programs = findDhclient(dhcpClient);
  return new DhcpClients({ programs, instance, log, onMismatch: () => metrics.dhcpMismatched() });
}

/** Namespaces that no task may have; asked at each borrowing, since the bridge's comes later. */
function forbiddenNamespaces(host: Namespace, bridge: BridgeNamespace): () => ForbiddenNamespace[] {
  const own = ownNamespace();
  const fixed = [
    { cookie: host.cookie, what: "the host's own network namespace" },
    { cookie: own.cookie, what: "the service's own network namespace" },
    ...initialNamespace(),
  ];
  own.close();
  return () => [...fixed, { cookie: bridge.namespace.cookie, what: "the bridge's namespace" }];
}

function initialNamespace(): ForbiddenNamespace[] {
  try {
    const namespace = openNamespace('/proc/1/ns/net');
    const { cookie } = namespace;
    namespace.close();
    return [{ cookie, what: 'the namespace of PID 1' }];
  } catch (error) {
    // Not even root may look at PID 1 under some supervisors; then no caller can name it by a path that opens either.
    if (isErrno(error, 'EACCES', 'EPERM', 'ENOENT')) return [];
    throw error;
  }
}
