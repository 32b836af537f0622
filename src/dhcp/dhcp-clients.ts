import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Ipv4, Ipv6 } from '../addresses/cidr.js';
import type { TaskId } from '../attachments/task-id.js';
import type { Namespace } from '../kernel/namespaces.js';
import { type Dhclient, dhclientFiles } from './dhclient.js';
import { FamilyClient, type NamespaceReference } from './family-client.js';
import { type ClientState, type Family, type Lease, taskLease } from './lease.js';
import { sweepLeftovers } from './leftovers.js';

export interface DhcpTask {
  readonly hash: string;
  readonly taskId: TaskId;
  /** Used during the call only: it may be closed afterwards, but its path must lead to it while the task lives. */
  readonly namespace: Pick<Namespace, 'path' | 'cookie'>;
  readonly interface: string;
  readonly ipv4: Ipv4 | null;
  readonly ipv6: Ipv6 | null;
}

export interface DhcpClientsOptions {
  /** What {@link findDhclient} found; null: DHCP is off. */
  readonly programs: Dhclient | null;
  readonly instance: string;
  readonly log: Logger;
  /** A server leased an address that is not the ENI's. */
  readonly onMismatch?: () => void;
}

/**
 * One DHCP client for each task and address family, owned and watched. Clients only keep leases renewed at the server: no
 * address, route, MTU or file of task or host is ever changed by what a server says.
 *
 * Of a task (hash) there is at most one client a family, whatever the order of the calls: a start waits for the stop before it.
 */
export class DhcpClients {
  private readonly tasks = new Map<string, readonly FamilyClient[]>();
  private readonly stops = new Map<string, Promise<void>>();
  private readonly listeners = new Set<(hash: string) => void>();
  private closed = false;

  constructor(private readonly options: DhcpClientsOptions) {}

  /** Returns at once; the lease follows. A task that is already started stays as it is. */
  start(task: DhcpTask): void {
    if (this.closed || this.tasks.has(task.hash)) return;
    const { programs } = this.options;
    const clients = programs === null ? [] : this.clientsOf(task, programs);
    this.tasks.set(task.hash, clients);
    for (const client of clients) client.start(this.stops.get(task.hash) ?? Promise.resolve());
  }

  /** Resolves once the task's clients are gone, processes and files. Safe to repeat, and for a task that was never started. */
  async stop(hash: string): Promise<void> {
    const clients = this.tasks.get(hash) ?? [];
    this.tasks.delete(hash);
    const before = this.stops.get(hash) ?? Promise.resolve();
    const stopping = before.then(() => this.end(hash, clients));
    this.stops.set(hash, stopping);
    try {
      await stopping;
    } finally {
      if (this.stops.get(hash) === stopping) this.stops.delete(hash);
    }
  }

  /** Ends every client, for good. The leases stay on disk: a service that starts again goes on from them. */
  async stopAll(): Promise<void> {
    this.closed = true;
    const clients = [...this.tasks.values()].flat();
    await Promise.all([...clients.map((client) => client.stop()), ...this.stops.values()]);
  }

  /** undefined: not started. */
  lease(hash: string): Lease | undefined {
    const clients = this.tasks.get(hash);
    const client = this.options.programs === null ? null : 'dhclient';
    return clients === undefined
      ? undefined
      : taskLease(
          client,
          clients.map((each) => each.lease),
        );
  }

  /** The state of each client: one for each task and family. */
  states(): ClientState[] {
    return [...this.tasks.values()].flat().map((client) => client.lease.state);
  }

  /** Calls `listener` with the hash of a task whose lease is another; returns how to end that. */
  onChange(listener: (hash: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Ends the clients that a former run of this instance left behind, and removes the files of tasks that are not in `live`.
   * To be called once, before the first start.
   */
  async sweepLeftovers(live: ReadonlySet<string>): Promise<void> {
    await sweepLeftovers(this.options.instance, live, this.options.log);
  }

  private clientsOf(task: DhcpTask, programs: Dhclient): FamilyClient[] {
    const { hash, taskId } = task;
    const namespace: NamespaceReference = { path: task.namespace.path, cookie: task.namespace.cookie };
    const addresses: readonly [Family, Ipv4 | Ipv6 | null][] = [
      [4, task.ipv4],
      [6, task.ipv6],
    ];
    const listener = { changed: () => this.tell(hash), mismatched: () => this.options.onMismatch?.() };
    return addresses.flatMap(([family, address]) => {
      if (address === null) return [];
      const run = { hash, instance: this.options.instance, namespace, interface: task.interface, family, address };
      return [new FamilyClient(programs, run, listener, this.options.log.child({ taskId, family }))];
    });
  }

  private async end(hash: string, clients: readonly FamilyClient[]): Promise<void> {
    await Promise.all(clients.map((client) => client.stop()));
    const files = ([4, 6] as const).flatMap((family) => Object.values(dhclientFiles(hash, family)));
    await Promise.all(files.map((file: string) => rm(file, { force: true })));
  }

  private tell(hash: string): void {
    for (const listener of this.listeners) listener(hash);
  }
}
