import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { Dnsmasq } from './dnsmasq.js';
import type { EniFacts } from './eni.js';
import type { HostNamespace } from './host-namespace.js';
import { vpc } from './vpc.js';

export interface DhcpOptions {
  /** dnsmasq grants no less than 120; an hour unless given, as in a VPC. */
  readonly leaseSeconds?: number;
  /** Raw values of dnsmasq's --dhcp-option, e.g. `option:domain-name,ec2.internal` or `6,192.0.2.53`. */
  readonly options?: readonly string[];
}

export interface DhcpMessage {
  /** `DHCPDISCOVER`, `DHCPACK`, `DHCPSOLICIT`, `DHCPREPLY` ... */
  readonly type: string;
  readonly address: string | null;
  readonly mac: string | null;
  readonly line: string;
}

/** The VPC's DHCP server: it gives each known MAC its own address, and strangers none. */
export class Dhcp {
  private readonly dnsmasq: Dnsmasq;
  private readonly directory: string;
  private readonly ipv6: boolean;
  private options: DhcpOptions;

  constructor(namespace: HostNamespace, directory: string, ipv6: boolean, options: DhcpOptions = {}) {
    this.dnsmasq = new Dnsmasq(namespace, 'dhcp', directory);
    this.directory = `${directory}/dhcp-hosts`;
    this.ipv6 = ipv6;
    this.options = options;
    mkdirSync(this.directory, { recursive: true });
  }

  /** Starts it with the options it had, changed as given; its leases outlive a stop. */
  async start(changes: DhcpOptions = {}): Promise<void> {
    this.options = { ...this.options, ...changes };
    const seconds = this.options.leaseSeconds ?? 3600;
    const [network = ''] = vpc.subnet.split('/');
    await this.dnsmasq.start([
      '--dhcp-authoritative',
      '--no-ping',
      '--log-dhcp',
      `--dhcp-hostsdir=${this.directory}`,
      `--dhcp-leasefile=${this.directory}.leases`,
      `--dhcp-range=${network},static,255.255.240.0,${seconds}`,
      ...(this.ipv6 ? [`--dhcp-range=2001:db8:1::,static,64,${seconds}`] : []),
      ...(this.options.options ?? ['option:dns-server,172.31.0.2', 'option:domain-name,ec2.internal', '26,9001']).map(
        (option) => `--dhcp-option=${option}`,
      ),
    ]);
  }

  stop(): Promise<void> {
    return this.dnsmasq.stop();
  }

  /** dnsmasq reads a new file of the folder by itself (dnsmasq(8), --dhcp-hostsdir). */
  async addHost(eni: Pick<EniFacts, 'mac' | 'ipv4Address' | 'ipv6Address'>): Promise<void> {
    const [ipv4 = ''] = eni.ipv4Address.split('/');
    const ipv6 = eni.ipv6Address === null ? '' : `,[${eni.ipv6Address.split('/')[0]}]`;
    const written = `${this.directory}.${eni.mac}.new`;
    await writeFile(written, `${eni.mac},${ipv4}${ipv6}\n`);
    await rename(written, this.hostFile(eni.mac));
  }

  /** A running server keeps what it has read; it forgets the host when started again. */
  removeHost(mac: string): void {
    rmSync(this.hostFile(mac), { force: true });
  }

  private hostFile(mac: string): string {
    return `${this.directory}/${mac.replaceAll(':', '-')}`;
  }

  /** Gives the MAC another address from the next start on, as a server does that disagrees with metadata. */
  setAddress(mac: string, ipv4: string): void {
    writeFileSync(this.hostFile(mac), `${mac},${ipv4}\n`);
  }

  /** Messages received and sent so far, oldest first. */
  messages(): DhcpMessage[] {
    return this.dnsmasq.log().flatMap((line) => {
      const match = /\b(DHCP[A-Z0-9-]+)\([^)]*\)\s*(.*)$/.exec(line);
      if (match === null) return [];
      const words = (match[2] ?? '').split(/\s+/);
      const isMac = (word: string) => /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(word);
      const isAddress = (word: string) =>
        !isMac(word) && /^(?:\d+(?:\.\d+){3}|(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})$/.test(word);
      const address = words.find(isAddress) ?? null;
      return [{ type: match[1] ?? '', address, mac: words.find(isMac) ?? null, line }];
    });
  }
}
