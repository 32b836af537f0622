/** What a network namespace holds, asked of `ip` alone and put into short lines that can be compared whole. */
import { run } from '../lab/command.js';
import type { IpObject } from '../lab/host-namespace.js';

interface AddressEntry {
  readonly family: string;
  readonly local: string;
  readonly prefixlen: number;
  readonly scope: string;
  readonly tentative?: boolean;
}

interface LinkEntry extends IpObject {
  readonly ifname: string;
  readonly mtu: number;
  readonly flags: readonly string[];
  readonly addr_info: readonly AddressEntry[];
}

interface RouteEntry {
  readonly type?: string;
  readonly dst: string;
  readonly gateway?: string;
  readonly dev?: string;
}

export class Inside {
  constructor(readonly netns: string) {}

  run(command: string, ...args: string[]): Promise<string> {
    return run('nsenter', [`--net=${this.netns}`, '--', command, ...args]);
  }

  async ip<T>(...args: string[]): Promise<T> {
    const text = await this.run('ip', '-j', '-d', ...args);
    return JSON.parse(text.trim() || '[]') as T;
  }

  links(): Promise<LinkEntry[]> {
    return this.ip('address', 'show');
  }

  async link(name: string): Promise<LinkEntry> {
    const link = (await this.links()).find(({ ifname }) => ifname === name);
    if (link === undefined) throw new Error(`${this.netns} has no link ${name}`);
    return link;
  }

  /** `eth0 172.31.1.2/20`, in order; the links' own fe80:: ones, which nobody chooses, are left out. */
  async addresses(): Promise<string[]> {
    const links = await this.links();
    return links
      .flatMap(({ ifname, addr_info }) =>
        addr_info
          .filter(({ local }) => !local.startsWith('fe80:'))
          .map(({ local, prefixlen }) => `${ifname} ${local}/${prefixlen}`),
      )
      .toSorted();
  }

  /** `default via 172.31.0.1 dev eth0`, in order: the main table of both families, without the links' own fe80::/64. */
  async routes(): Promise<string[]> {
    const both = await Promise.all([this.ip<RouteEntry[]>('-4', 'route'), this.ip<RouteEntry[]>('-6', 'route')]);
    return both
      .flat()
      .filter(({ dst }) => dst !== 'fe80::/64')
      .map(routeLine)
      .toSorted();
  }

  async ping(address: string, ...args: string[]): Promise<void> {
    await this.run('ping', '-n', '-c', '1', '-W', '3', ...args, address);
  }

  /** Resolves when a server could bind to the address at once. */
  async bind(address: string): Promise<void> {
    const program = `require('net').createServer().listen(0, process.argv[1], () => process.exit(0))`;
    await this.run(process.execPath, '-e', program, address);
  }
}

function routeLine({ type, dst, gateway, dev }: RouteEntry): string {
  const words = [
    ...(type === undefined || type === 'unicast' ? [] : [type]),
    dst,
    ...(gateway === undefined ? [] : ['via', gateway]),
    // The kernel shows IPv6 routes to nowhere as if they left by lo.
    ...(dev === undefined || type === 'blackhole' ? [] : ['dev', dev]),
  ];
  return words.join(' ');
}
