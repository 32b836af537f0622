import { readdirSync } from 'node:fs';
import type { Host } from '../lab/answers.js';
import type { IpObject } from '../lab/host-namespace.js';
import type { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from '../attach/inside.js';

/** All that an attach changes on a host, as `ip` and the API show it, to be compared whole. */
export async function everythingOf(lab: Lab, service: ServiceProcess): Promise<Record<string, unknown>> {
  const host = new Inside(lab.host.path);
  const bridge = new Inside(`/run/netns/${lab.id}`);
  const { body } = await service.api<Host>('GET', '/host');
  return {
    links: (await host.ip<IpObject[]>('link')).map(linkLine).toSorted(),
    addresses: await host.addresses(),
    routes: await Promise.all(['-4', '-6'].map((family) => lines(host, family, 'route', 'show', 'table', 'all'))),
    rules: await Promise.all(['-4', '-6'].map((family) => lines(host, family, 'rule'))),
    ports: (await bridge.ip<IpObject[]>('link')).map(({ ifname }) => ifname).toSorted(),
    forwarding: (await bridge.run('bridge', 'fdb')).trim().split('\n').toSorted(),
    neighbours: await lines(bridge, 'neigh', 'show', 'nud', 'permanent'),
    namespaces: readdirSync('/run/netns')
      .filter((name) => name === lab.id || name.startsWith(`${lab.id}-`) || name.startsWith(`te-${lab.id}`))
      .toSorted(),
    tasks: readdirSync(`${lab.directory}/state/tasks`).filter((name) => name.endsWith('.json')),
    allocated: body.linkLocal.allocated,
    orphans: body.orphans,
  };
}

/** What of a link must be as before; whether it is up, its flags say. */
export function linkLine(link: IpObject): string {
  const { ifname, address, mtu, txqlen, flags, ifalias, altnames, master } = link as IpObject & Record<string, unknown>;
  // NO-CARRIER and LOWER_UP follow the far end, in the kernel's own time.
  const kept = (flags as string[]).filter((flag) => !['NO-CARRIER', 'LOWER_UP', 'M-DOWN'].includes(flag)).toSorted();
  return JSON.stringify({ ifname, address, mtu, txqlen, kept, ifalias, altnames, master });
}

async function lines(inside: Inside, ...args: string[]): Promise<string[]> {
  return (await inside.run('ip', ...args)).trim().split('\n').toSorted();
}
