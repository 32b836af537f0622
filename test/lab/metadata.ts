import { ControlledProcess } from './controlled-process.js';
import type { HostNamespace } from './host-namespace.js';
import type { Fault } from './servers/faults.js';
import type { MetadataRequest } from './servers/metadata-server.js';
import type { Instance, InterfaceFacts, Role } from './servers/metadata-tree.js';

export type { Fault, Instance, InterfaceFacts, MetadataRequest, Role };

/** Instance metadata at 169.254.169.254:80 (and [fd00:ec2::254]:80) of the host's namespace, and what a test does to it. */
export class Metadata {
  private readonly server: ControlledProcess;
  private constructor(server: ControlledProcess) {
    this.server = server;
  }

  static async serve(
    host: HostNamespace,
    directory: string,
    addresses: string[],
    instance: Instance,
  ): Promise<Metadata> {
    const server = await ControlledProcess.start(host, 'metadata-server', directory, addresses);
    const metadata = new Metadata(server);
    await metadata.setInstance(instance);
    return metadata;
  }

  /** Connections are refused until it is started again; nothing it knows is lost. */
  stop(): Promise<void> {
    return this.server.call('stop');
  }
  start(): Promise<void> {
    return this.server.call('start');
  }

  setInstance(changes: Partial<Instance>): Promise<void> {
    return this.server.call('setInstance', changes);
  }
  /** The instance profile's role; null when the host has none. */
  setRole(role: Role | null): Promise<void> {
    return this.server.call('setRole', role);
  }

  addInterface(facts: InterfaceFacts): Promise<void> {
    return this.server.call('addInterface', { ...facts, mac: facts.mac.toLowerCase() });
  }
  removeInterface(mac: string): Promise<void> {
    return this.server.call('removeInterface', mac.toLowerCase());
  }
  /** A MAC that is listed and answers 404 to everything, as one of a detached ENI does for a while. */
  addStaleInterface(mac: string): Promise<void> {
    return this.server.call('addStaleInterface', mac.toLowerCase());
  }
  /** Sets a key of an interface, several values as lines; null takes it away (404). */
  setKey(mac: string, key: string, value: string | null): Promise<void> {
    return this.server.call('setKey', mac.toLowerCase(), key, value);
  }

  /** Starts a fault; the earliest that matches a request hits it. Gives a number for {@link heal}. */
  fail(fault: Fault): Promise<number> {
    return this.server.call('fail', fault);
  }
  /** The key answers 404 until `milliseconds` from now. */
  hideKey(mac: string, key: string, milliseconds: number): Promise<number> {
    return this.fail({ kind: 'not-found', mac, key, forMilliseconds: milliseconds });
  }
  delayKey(mac: string, key: string, milliseconds: number): Promise<number> {
    return this.fail({ kind: 'delay', mac, key, milliseconds });
  }
  /** Ends one fault, or all. */
  heal(id?: number): Promise<void> {
    return this.server.call('heal', id ?? null);
  }

  invalidateTokens(): Promise<void> {
    return this.server.call('invalidateTokens');
  }
  /** Every request but the PUT for a token answers 401 until healed. */
  refuseTokens(): Promise<number> {
    return this.fail({ kind: 'unauthorized' });
  }
  /** Whether requests without a token are served (version 1); at first they are not. */
  allowVersion1(allowed: boolean): Promise<void> {
    return this.server.call('allowVersion1', allowed);
  }

  requests(): Promise<MetadataRequest[]> {
    return this.server.call('requests');
  }
  resetRequests(): Promise<void> {
    return this.server.call('resetRequests');
  }
}
