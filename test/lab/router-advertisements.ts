import { Dnsmasq } from './dnsmasq.js';
import type { HostNamespace } from './host-namespace.js';
import { vpc } from './vpc.js';

/** The router's advertisements. They offer a prefix for autoconfiguration, so that a host which must not use it can be seen not to. */
export class RouterAdvertisements {
  private readonly dnsmasq: Dnsmasq;

  constructor(namespace: HostNamespace, directory: string) {
    this.dnsmasq = new Dnsmasq(namespace, 'router-advertisements', directory);
  }

  /** Solicited ones are sent at once, others every 4 to 5 s or so; the route lives 1800 s unless given. */
  start(lifetimeSeconds = 1800): Promise<void> {
    return this.dnsmasq.start([
      '--enable-ra',
      `--ra-param=${vpc.switchName},5,${lifetimeSeconds}`,
      '--dhcp-range=2001:db8:1::,ra-only,64',
    ]);
  }

  stop(): Promise<void> {
    return this.dnsmasq.stop();
  }
}
