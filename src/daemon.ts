import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { HostReport, ReadinessCheck } from './api/injection.js';
import { serviceVersion } from './api/service-version.js';
import { Attachments } from './attachments/attachments.js';
import { isLive } from './attachments/conflicts.js';
import type { Host } from './attachments/host.js';
import { Reconciler } from './attachments/reconciler.js';
import { formatCidr } from './addresses/cidr.js';
import { Capacity } from './capacity/capacity.js';
import { describeEniLimit } from './capacity/ec2-limit.js';
import { EniLimit } from './capacity/eni-limit.js';
import { composeHost } from './compose-host.js';
import type { CredentialsServer } from './credentials/credentials-server.js';
import { FileLock } from './kernel/file-lock.js';
import { InstanceLock } from './kernel/instance-lock.js';
import { pinReach } from './kernel/pin-reach.js';
import type { DockerEvents } from './sandboxes/docker-events.js';
import type { Settings } from './settings.js';
import { RecordStore } from './store/record-store.js';

/** Milliseconds that a start waits for a service of the same instance name to be gone. */
const predecessorPatience = 3000;

/** The service without its API: everything that outlives a request, started in order and stopped in the opposite one. */
export class Daemon {
  readonly attachments: Attachments;
  readonly capacity: Capacity;
  private readonly reconciler: Reconciler;
  private dockerEvents: DockerEvents | undefined;
  private drained: Promise<unknown> | undefined;

  private constructor(
    readonly host: Host,
    readonly credentialsServer: CredentialsServer,
    private readonly store: RecordStore,
    private readonly locks: readonly { release(): void }[],
  ) {
    this.attachments = new Attachments(host);
    this.reconciler = new Reconciler(host);
    this.capacity = composeCapacity(host);
    this.setMetricSources();
  }

  /** Throws with a reason for people when the service cannot do its work on this host. */
  static async open(settings: Settings, logger: Logger): Promise<Daemon> {
    const { reaches, detail } = pinReach();
    if (reaches === false) throw new Error(detail);
    if (reaches === null) logger.warn(detail);
    mkdirSync(settings.stateDir, { recursive: true, mode: 0o700 });
    mkdirSync(settings.runDir, { recursive: true, mode: 0o700 });
    const stateLock = FileLock.acquire(join(settings.stateDir, 'lock'));
    const instanceLock = await InstanceLock.acquire(settings.instance, predecessorPatience);
    const store = await RecordStore.open(settings.stateDir, logger);
    const { host, credentialsServer } = composeHost(settings, store, logger);
    return new Daemon(host, credentialsServer, store, [instanceLock, stateLock]);
  }

  async start(): Promise<void> {
    const { host } = this;
    await host.bridge.ensure();
    await this.credentialsServer.start();
    await this.reconciler.start();
    host.identity.start();
    host.dhcp.onChange((hash) => host.records.touch(hash));
    if (host.sandboxKind === 'docker') {
      const { reconciler } = this;
      this.dockerEvents = host.sandboxes.docker.watch(
        () => reconciler.look(),
        () => reconciler.lookAfresh(),
      );
    }
  }

  /** From the call on nothing is begun; what is under way has up to eight seconds to end. */
  drain(): Promise<unknown> {
    this.drained ??= Promise.all([this.reconciler.stop(), this.attachments.stop()]);
    return this.drained;
  }

  /** Leaves running tasks' networks as they are. */
  async stop(): Promise<void> {
    const { host } = this;
    await this.drain();
    await this.dockerEvents?.stop();
    host.identity.stop();
    host.metadata.close();
    host.credentials.stop();
    await Promise.all([host.dhcp.stopAll(), this.credentialsServer.stop()]);
    await this.store.flush();
    host.bridge.close();
    host.hostNetlink.close();
    host.hostNamespace.close();
    for (const lock of this.locks) lock.release();
  }

  readonly report: HostReport = async () => {
    const { host } = this;
    const { instanceId, instanceType, availabilityZone, region } = host.identity.known;
    const eni = await this.capacity.read();
    return {
      instanceId,
      instanceType,
      availabilityZone,
      region: host.settings.region ?? region,
      version: serviceVersion,
      sandbox: host.sandboxKind,
      eni,
      linkLocal: {
        subnet: formatCidr(host.settings.bridgeSubnet),
        capacity: host.pool.capacity,
        allocated: host.pool.allocated,
      },
      orphans: this.attachments.orphans().map(({ taskId, detail }) => ({ taskId, detail })),
    };
  };

  /** The parts without which the service cannot do its work. */
  readiness(): ReadinessCheck[] {
    const { host, store } = this;
    const checks: ReadinessCheck[] = [
      { name: 'bridge', check: () => host.bridge.ensure() },
      { name: 'credentials', check: () => this.checkCredentials() },
      { name: 'store', check: async () => checkStore(store) },
    ];
    if (host.sandboxKind === 'docker') checks.push({ name: 'docker', check: () => host.sandboxes.docker.ping() });
    return checks;
  }

  private async checkCredentials(): Promise<void> {
    if (!(await this.credentialsServer.ready())) throw new Error(this.credentialsServer.problem);
  }

  private setMetricSources(): void {
    const { host } = this;
    host.metrics.setSources({
      slots: () => this.capacity.read(),
      identity: () => host.identity.known,
      tasks: () => host.records.all().map(({ state }) => state),
      linkLocal: () => ({ capacity: host.pool.capacity, allocated: host.pool.allocated }),
      earliestExpiry: () => host.credentials.earliestExpiry(),
      dhcpClients: () => host.dhcp.states(),
      orphans: () => this.attachments.orphans().length,
    });
  }
}

function checkStore({ writeError, damaged }: RecordStore): void {
  if (writeError !== null) throw new Error(writeError);
  const [first] = damaged;
  if (first === undefined) return;
  const files = damaged.map(({ movedTo }) => movedTo).join(', ');
  throw new Error(`${damaged.length} damaged state file(s) were set aside: ${files} (${first.reason})`);
}

function composeCapacity(host: Host): Capacity {
  const { settings, identity, logger, metadata, links, records } = host;
  const limit = new EniLimit({
    setting: settings.maxEnis,
    host: () => ({ ...identity.known, region: settings.region ?? identity.known.region }),
    describe: describeEniLimit,
    logger,
  });
  const tasks = () => records.all().flatMap((record) => (isLive(record) && record.eni?.device ? [record.eni.mac] : []));
  return new Capacity({ limit, metadata, links: () => links.list(), tasks, logger });
}
