import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import { blocking } from '../kernel/blocking-queue.js';
import { KernelError } from '../kernel/errno.js';
import { makeFolder } from '../kernel/folder.js';
import { type Namespace, openNamespace } from '../kernel/namespaces.js';
import { spawnChild } from '../kernel/spawn.js';
import { clientEnded } from './client-process.js';
import { type Dhclient, dhclientCommand, dhclientConfiguration, dhclientDirectory, dhclientFiles } from './dhclient.js';
import { type FamilyLease, backOff } from './lease.js';
import { type LeaseListener, LeaseWatch, type WatchedLease } from './lease-watch.js';
import { linkLocalUsable } from './link-local.js';

/** The namespace of a task without holding it open: a descriptor would keep it alive after its sandbox. */
export interface NamespaceReference {
  readonly path: string;
  /** SO_NETNS_COOKIE: the path may lead to another namespace by now. */
  readonly cookie: bigint;
}

export interface ClientRun extends WatchedLease {
  readonly instance: string;
  readonly namespace: NamespaceReference;
  readonly interface: string;
}

/** A client that lived this long was well: what ended it then is not a failure to start. */
const stableMs = 30_000;
/** Ends in a row after which the lease is `failed`; the client is still tried again, at most once a minute. */
const failuresToTell = 3;

/** Keeps one DHCP client running for one family of one task. */
export class FamilyClient {
  private readonly stopping = new AbortController();
  private readonly watch: LeaseWatch;
  private supervision: Promise<void> | undefined;
  private failures = 0;
  private startedAt = 0;
  private running = false;

  constructor(
    private readonly programs: Dhclient,
    private readonly run: ClientRun,
    listener: LeaseListener,
    private readonly log: Logger,
  ) {
    this.watch = new LeaseWatch(run, (grantedAt) => this.failing(grantedAt), listener, log);
  }

  get lease(): FamilyLease {
    return this.watch.lease;
  }

  /** `after`: what must be over first, such as the end of a former client of the same task. */
  start(after: Promise<unknown>): void {
    this.supervision ??= after.then(() => this.supervise());
  }

  /** Resolves once the client's process is gone. Its files stay. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.watch.stop();
    await this.supervision;
  }

  private failing(grantedAt: number): boolean {
    const well = this.running && (grantedAt > this.startedAt || Date.now() - this.startedAt >= stableMs);
    return this.failures >= failuresToTell && !well;
  }

  private async supervise(): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    this.watch.look();
    while (!signal.aborted) {
      this.startedAt = Date.now();
      const end = await this.runOnce().catch(describeError);
      this.running = false;
      if (signal.aborted) return;
      this.failures = Date.now() - this.startedAt >= stableMs ? 1 : this.failures + 1;
      const retryMs = backOff(this.failures);
      this.log.warn({ end, failures: this.failures, retryMs }, 'the DHCP client ended and will be started again');
      this.watch.look();
      await delay(retryMs, undefined, { signal }).catch(() => 'stopped meanwhile');
    }
  }

  private async runOnce(): Promise<string> {
    const { hash, instance, family } = this.run;
    const { signal } = this.stopping;
    if (family === 6) await linkLocalUsable(() => this.open(), this.run.interface, signal);
    makeFolder(dhclientDirectory, 0o755);
    await writeFile(dhclientFiles(hash, family).configuration, dhclientConfiguration(instance, family));
    this.startedAt = Date.now();
    const child = await blocking(() => (signal.aborted ? undefined : this.spawn()));
    this.running = true;
    return child === undefined ? 'stopped before it began' : clientEnded(child, signal);
  }

  private spawn() {
    const namespace = this.open();
    try {
      const { command, args } = dhclientCommand(this.programs, this.run);
      return spawnChild(command, args, {
        namespace,
        cwd: '/',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    } finally {
      namespace.close();
    }
  }

  private open(): Namespace {
    const { path, cookie } = this.run.namespace;
    const namespace = openNamespace(path);
    if (namespace.cookie === cookie) return namespace;
    namespace.close();
    throw new KernelError('ESTALE', `open ${path}`);
  }
}
