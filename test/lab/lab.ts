import { account, hostRole, region } from './credentials.js';
import { Churn, linkLines } from './churn.js';
import { Dhcp, type DhcpOptions } from './dhcp.js';
import { noteDockerHost } from './docker-leftovers.js';
import { Eni } from './eni.js';
import { lay, layNamespace } from './foundation.js';
import { type HostNamespace, inherited } from './host-namespace.js';
import { reserveLab } from './lab-id.js';
import { type Instance, Metadata } from './metadata.js';
import { RouterAdvertisements } from './router-advertisements.js';
import { ServiceProcess, type ServiceOptions } from './service-process.js';
import { removeLabs, sweep } from './sweep.js';
import * as plan from './vpc.js';

export interface LabOptions {
  /** Whether the subnet has IPv6; true unless given. */
  readonly ipv6?: boolean;
  readonly routerAdvertisements?: boolean;
  readonly dhcp?: boolean | DhcpOptions;
  readonly instanceType?: string;
  /** A word for people, kept in the lab's folder. */
  readonly name?: string;
}

export interface EniOptions {
  readonly id?: string;
  readonly mac?: string;
  /** Without prefix. */
  readonly ipv4?: string;
  /** Without prefix; null: none. */
  readonly ipv6?: string | null;
  /** Leaves the IPv4 keys out of metadata. */
  readonly ipv6Only?: boolean;
  readonly hostName?: string;
  readonly mtu?: number;
  /** Whether the link exists in the host at once; true unless given. */
  readonly attach?: boolean;
  /** Whether metadata knows it at once; true unless given. */
  readonly inMetadata?: boolean;
}

export interface Neighbour {
  readonly namespace: HostNamespace;
  readonly mac: string;
  readonly ipv4: string;
  readonly ipv6: string | null;
}

/** A pretend VPC subnet with a pretend EC2 host on it, in network namespaces of their own. */
export class Lab {
  readonly id: string;
  readonly host: HostNamespace;
  readonly vpc: HostNamespace;
  readonly metadata: Metadata;
  readonly dhcp: Dhcp;
  readonly routerAdvertisements: RouterAdvertisements;
  readonly directory: string;
  readonly ipv6: boolean;
  private readonly number: number;
  private readonly namespaces: HostNamespace[];
  private enis = 0;
  private others = 0;
  private links = 0;

  private constructor(
    reserved: { id: string; number: number; directory: string },
    parts: { host: HostNamespace; vpc: HostNamespace; metadata: Metadata },
    options: LabOptions,
  ) {
    this.id = reserved.id;
    this.number = reserved.number;
    this.directory = reserved.directory;
    this.host = parts.host;
    this.vpc = parts.vpc;
    this.metadata = parts.metadata;
    this.ipv6 = options.ipv6 ?? true;
    this.namespaces = [parts.host, parts.vpc];
    const dhcp = typeof options.dhcp === 'object' ? options.dhcp : {};
    this.dhcp = new Dhcp(parts.vpc, this.directory, this.ipv6, dhcp);
    this.routerAdvertisements = new RouterAdvertisements(parts.vpc, this.directory);
  }

  /** Removes what dead creators left, then makes a lab. Needs root. */
  static async create(options: LabOptions = {}): Promise<Lab> {
    await sweep();
    const reserved = await reserveLab();
    try {
      return await Lab.build(reserved, options);
    } catch (error) {
      await removeLabs([reserved.id]);
      throw error;
    }
  }

  private static async build(
    reserved: { id: string; number: number; directory: string },
    options: LabOptions,
  ): Promise<Lab> {
    const ipv6 = options.ipv6 ?? true;
    const mac = plan.nthMac(reserved.number, 0);
    const { host, vpc } = await lay(reserved.id, mac, ipv6);
    const addresses = ipv6 ? [plan.vpc.metadata, plan.vpc.ipv6Metadata] : [plan.vpc.metadata];
    const metadata = await Metadata.serve(host, reserved.directory, addresses, instance(options, mac, reserved.id));
    await metadata.setRole(hostRole);
    const primary = { mac, id: 'eni-00000000000000000', deviceNumber: 0, ipv4: plan.vpc.primary };
    await metadata.addInterface({ ...primary, ipv6: ipv6 ? plan.vpc.ipv6Primary : null });
    const lab = new Lab(reserved, { host, vpc, metadata }, options);
    if (options.dhcp) await lab.dhcp.start();
    if (options.routerAdvertisements) await lab.routerAdvertisements.start();
    return lab;
  }

  async createEni(options: EniOptions = {}): Promise<Eni> {
    const n = ++this.enis;
    const ipv4 = options.ipv4 ?? plan.nthIpv4(n);
    const ipv6 = options.ipv6 === undefined ? (this.ipv6 ? plan.nthIpv6(n) : null) : options.ipv6;
    const facts = {
      id: options.id ?? `eni-0${this.number.toString(16).padStart(4, '0')}${n.toString(16).padStart(12, '0')}`,
      mac: (options.mac ?? plan.nthMac(this.number, n)).toLowerCase().replaceAll('-', ':'),
      ipv4Address: `${ipv4}/${plan.vpc.prefix}`,
      ipv6Address: ipv6 === null ? null : `${ipv6}/${plan.vpc.ipv6Prefix}`,
      hostName: options.hostName ?? `eth${n}`,
      wire: `w${n}`,
      mtu: options.mtu ?? plan.vpc.mtu,
      deviceNumber: n,
    };
    const eni = new Eni(facts, { labId: this.id, host: this.host, vpc: this.vpc }, async () => {
      this.dhcp.removeHost(facts.mac);
      await this.metadata.removeInterface(facts.mac);
    });
    await this.dhcp.addHost(eni);
    const known = { mac: facts.mac, id: facts.id, deviceNumber: n, ipv4: options.ipv6Only ? null : ipv4, ipv6 };
    if (options.inMetadata ?? true) await this.metadata.addInterface(known);
    if (options.attach ?? true) await eni.attach();
    return eni;
  }

  /** A namespace under /run/netns that vanishes with the lab, with lo up and nothing else. */
  async createNamespace(name?: string): Promise<HostNamespace> {
    const made = await layNamespace(this.id, name ?? `ns${++this.others}`, this.ipv6);
    this.namespaces.push(made);
    return made;
  }

  /** Another machine of the subnet. */
  async createNeighbour(): Promise<Neighbour> {
    const n = ++this.others;
    const ipv4 = `172.31.0.${100 + n}`;
    const ipv6 = this.ipv6 ? `2001:db8:1::${(0x10 + n).toString(16)}` : null;
    const mac = plan.nthMac(this.number, 0x8000 + n);
    const member = { vpc: this.vpc, wire: `wn${n}`, mac, ipv4, ipv6 };
    const namespace = await layNamespace(this.id, `neighbour${n}`, this.ipv6, member);
    this.namespaces.push(namespace);
    return { namespace, mac, ipv4, ipv6 };
  }

  /** Adds `count` links to the host, down and without addresses; an odd number is rounded up, since they are pairs. */
  async addLinks(count: number): Promise<void> {
    const first = this.links;
    this.links += count + (count % 2);
    await this.host.ipBatch(linkLines(first, count));
  }

  /** Links come and go in the host until stopped. */
  startChurn(): Churn {
    return new Churn(this.host);
  }

  /** What the service of this lab gets: folders of the lab's, and nothing of the caller's environment. */
  serviceEnvironment(changes: Record<string, string> = {}): Record<string, string> {
    return {
      ...inherited(),
      HOME: this.directory,
      TASK_ENI_BRIDGE_NETNS: this.id,
      TASK_ENI_STATE_DIR: `${this.directory}/state`,
      TASK_ENI_RUN_DIR: `${this.directory}/run`,
      TASK_ENI_API_SOCKET: `${this.directory}/run/api.sock`,
      TASK_ENI_API_TOKEN_FILE: `${this.directory}/run/token`,
      TASK_ENI_AUDIT_LOG: `${this.directory}/audit.log`,
      TASK_ENI_SANDBOX: 'netns',
      TASK_ENI_LOG_LEVEL: 'debug',
      ...changes,
    };
  }

  /** Starts the service in the host's namespace; one started after another one ended finds what that one left. */
  async startService(options: ServiceOptions = {}): Promise<ServiceProcess> {
    const environment = this.serviceEnvironment(options.env);
    const dockerHost = environment['DOCKER_HOST'];
    if (dockerHost !== undefined) await noteDockerHost(this.id, dockerHost);
    return ServiceProcess.start(this.host, environment, `${this.directory}/service.log`, options);
  }

  /** Ends what was started and removes every trace. May be called again. */
  async destroy(): Promise<void> {
    for (const namespace of this.namespaces) namespace.killChildren();
    await removeLabs([this.id]);
  }
}

function instance(options: LabOptions, mac: string, id: string): Instance {
  const ipv6 = options.ipv6 ?? true;
  return {
    instanceId: `i-0${Buffer.from(id).toString('hex').padEnd(16, '0').slice(0, 16)}`,
    instanceType: options.instanceType ?? 'm5.large',
    availabilityZone: `${region}a`,
    region,
    accountId: account,
    imageId: 'ami-0123456789abcdef0',
    hostname: 'ip-172-31-0-10.us-west-2.compute.internal',
    privateIp: plan.vpc.primary,
    mac,
    vpcIpv4: plan.vpc.cidr,
    subnetIpv4: plan.vpc.subnet,
    subnetIpv6: ipv6 ? plan.vpc.ipv6Subnet : null,
    vpcIpv6: ipv6 ? plan.vpc.ipv6Cidr : null,
  };
}
