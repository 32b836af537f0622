import { readdir, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostNamespace, IpObject } from './host-namespace.js';
import { run } from './command.js';
import { belongsTo, isMissing } from './lab-id.js';
import { networksInUse } from './process-table.js';
import { wireLines } from './vpc.js';

export interface EniFacts {
  readonly id: string;
  readonly mac: string;
  /** With the subnet's prefix: `172.31.1.1/20`. */
  readonly ipv4Address: string;
  readonly ipv6Address: string | null;
  readonly hostName: string;
  readonly wire: string;
  readonly mtu: number;
  readonly deviceNumber: number;
}

/** Where a link is: a path that nsenter takes, and its name there. */
export interface Place {
  readonly netns: string;
  readonly name: string;
}

/** A pretend ENI: a veth whose far end, the wire, is on the subnet's switch. It dies with the namespace it is in, which a real one does not. */
export class Eni implements EniFacts {
  readonly id: string;
  readonly mac: string;
  readonly ipv4Address: string;
  readonly ipv6Address: string | null;
  readonly hostName: string;
  readonly wire: string;
  readonly mtu: number;
  readonly deviceNumber: number;
  private readonly place: { labId: string; host: HostNamespace; vpc: HostNamespace };
  private readonly onDetach: () => Promise<void>;

  constructor(facts: EniFacts, place: Eni['place'], onDetach: () => Promise<void>) {
    this.id = facts.id;
    this.mac = facts.mac;
    this.ipv4Address = facts.ipv4Address;
    this.ipv6Address = facts.ipv6Address;
    this.hostName = facts.hostName;
    this.wire = facts.wire;
    this.mtu = facts.mtu;
    this.deviceNumber = facts.deviceNumber;
    this.place = place;
    this.onDetach = onDetach;
  }

  /** The link appears in the host, down and without addresses, as a hot-plugged one does. */
  async attach(): Promise<void> {
    const { host, vpc } = this.place;
    await vpc.ipBatch(wireLines(this.wire, { netns: host.name, name: this.hostName, mac: this.mac, mtu: this.mtu }));
  }

  /** The link is gone, wherever it was, and so are its keys in metadata. */
  async detach(): Promise<void> {
    if (await this.wireLink()) await this.place.vpc.run('ip', 'link', 'delete', this.wire);
    await this.onDetach();
  }

  private async wireLink(): Promise<IpObject | undefined> {
    const links = await this.place.vpc.ip('link', 'show');
    return links.find((link) => link.ifname === this.wire);
  }

  /** Finds the link by its wire: in the lab's namespaces first, then in those of every process. Undefined when there is no link. */
  async locate(): Promise<Place | undefined> {
    const deadline = Date.now() + 5_000;
    for (let wire = await this.wireLink(); wire !== undefined; wire = await this.wireLink()) {
      const place = await this.placeOf(wire);
      if (place !== undefined) return place;
      // A namespace that nobody holds any more takes a moment to die, and the link, and with it the wire, dies then.
      if (Date.now() > deadline)
        throw new Error(`${this.mac}: the link is in no namespace that has a name or a process`);
      await sleep(20);
    }
    return undefined;
  }

  private async placeOf(wire: IpObject): Promise<Place | undefined> {
    const seen = new Set<string>();
    for (const path of await this.namedNamespaces()) {
      seen.add(`net:[${(await stat(path)).ino}]`);
      const name = await this.nameIn(path, wire);
      if (name !== undefined) return { netns: path, name };
    }
    for (const [network, pid] of await networksInUse()) {
      if (seen.has(network)) continue;
      const path = `/proc/${pid}/ns/net`;
      const name = await this.nameIn(path, wire);
      if (name !== undefined) return { netns: path, name };
    }
    return undefined;
  }

  private async namedNamespaces(): Promise<string[]> {
    const names = (await readdir('/run/netns')).filter((name) => belongsTo(this.place.labId, name));
    const first = this.place.host.name;
    return names.toSorted((a, b) => Number(b === first) - Number(a === first)).map((name) => `/run/netns/${name}`);
  }

  /** Index and peer index could agree by chance with another lab's: the far end must be in this lab's VPC too. */
  private async nameIn(path: string, wire: IpObject): Promise<string | undefined> {
    const inside = async (...args: string[]) => {
      const text = await run('nsenter', [`--net=${path}`, '--', 'ip', '-j', ...args]);
      return JSON.parse(text.trim() || '[]') as IpObject[];
    };
    let links: IpObject[];
    try {
      links = await inside('link', 'show');
    } catch (error) {
      // The process or the name that kept the namespace went away meanwhile, and the namespace with it.
      if (await stat(path).then(() => false, isMissing)) return undefined;
      throw error;
    }
    const link = links.find((each) => each.ifindex === wire.link_index && each.link_index === wire.ifindex);
    if (link?.link_netnsid === undefined) return undefined;
    const known = await inside('netns', 'list-id');
    const far = known.find((each) => each['nsid'] === link.link_netnsid);
    return far?.['name'] === this.place.vpc.name ? link.ifname : undefined;
  }
}
