/** The task's end of a veth pair: the only link by which a task reaches the credentials, and nothing else. */
import { type Cidr, type Ipv4, formatCidr } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import { scopes } from '../kernel/address-message.js';
import { ignoring } from '../kernel/errno.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { writeIpv6Sysctls } from '../kernel/sysctl.js';
import type { PortPlan } from './port.js';

/** The credentials server as the task sees it. */
export interface ServerEnd {
  readonly address: Ipv4;
  readonly mac: Mac;
}

const hostRoute = (address: Ipv4): Cidr<Ipv4> => ({ address, prefix: 32 });

/**
 * The link speaks no IPv6. disable_ipv6 alone would not last: turning IPv6 on for the ENI writes to `all`, which sets every
 * link; without an address of its own (addr_gen_mode 1) it stays silent then too.
 */
function silenceIpv6(task: Namespace, name: string): void {
  const key = `net/ipv6/conf/${name}` as const;
  writeIpv6Sysctls(task, [
    [`${key}/addr_gen_mode`, 1],
    [`${key}/accept_ra`, 0],
    [`${key}/disable_ipv6`, 1],
  ]);
}

export async function setUpTaskEnd(
  session: NetlinkSession,
  task: Namespace,
  { index, plan, server }: { index: number; plan: PortPlan; server: ServerEnd },
): Promise<void> {
  silenceIpv6(task, plan.interface);
  await Promise.all([
    session.setLink(index, { alias: plan.alias, mac: plan.mac }),
    session.addAddress(index, hostRoute(plan.address), scopes.link).catch(ignoring('EEXIST')),
    session.setLink(index, { up: true }),
    session.replaceRoute({ destination: hostRoute(server.address), index }),
    // A permanent entry: nobody is asked, so nobody else can answer.
    session.setNeighbour(index, server.address, server.mac),
  ]);
}

export async function taskEndDrift(
  session: NetlinkSession,
  plan: PortPlan,
  server: ServerEnd,
  portIndex: number | undefined,
): Promise<string[]> {
  const link = await session.linkByName(plan.interface);
  if (link === undefined) return [`${plan.interface} is missing in the task`];
  const [addresses, routes, neighbours] = await Promise.all([
    session.addresses(link.index),
    session.routes(2),
    session.neighbours(link.index),
  ]);
  const found: string[] = [];
  const expect = (holds: boolean, text: string) => void (holds || found.push(`${plan.interface} ${text}`));
  const own = formatCidr(hostRoute(plan.address));
  const byLink = routes.filter((route) => route.index === link.index && route.table === 254);
  expect(portIndex === undefined || link.peerIndex === portIndex, 'is not the other end of the port');
  expect(link.up, 'is down');
  expect(link.mac === plan.mac, `has the hardware address ${link.mac}, not ${plan.mac}`);
  expect(link.alias === plan.alias, 'does not bear the mark of the task');
  expect(
    addresses.some((address) => formatCidr(address) === own),
    `lacks ${own}`,
  );
  for (const address of addresses.filter((other) => formatCidr(other) !== own))
    expect(false, `has the foreign address ${formatCidr(address)}`);
  const toServer = formatCidr(hostRoute(server.address));
  expect(
    byLink.some((route) => formatCidr(route.destination) === toServer),
    `has no route to ${server.address}`,
  );
  for (const route of byLink.filter((other) => formatCidr(other.destination) !== toServer))
    expect(false, `has a foreign route to ${formatCidr(route.destination)}`);
  const entry = neighbours.find((neighbour) => neighbour.address === server.address);
  expect(entry?.permanent === true && entry.mac === server.mac, `lacks the neighbour entry of ${server.address}`);
  return found;
}
