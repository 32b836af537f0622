import { formatCidr } from '../addresses/cidr.js';
import { families } from '../kernel/address-message.js';
import { type Link, linkFlags } from '../kernel/link-message.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { type NewRoute, type Route, tables } from '../kernel/route-message.js';
import { kernelHasIpv6 } from '../kernel/sysctl.js';
import { type EniPlan, routesOf } from './configure.js';
import { type EniIdentity, findInTask } from './eni-search.js';

function isRoute(found: Route, wanted: NewRoute): boolean {
  return (
    found.table === tables.main &&
    found.type === (wanted.type ?? 'unicast') &&
    formatCidr(found.destination) === formatCidr(wanted.destination) &&
    found.gateway === wanted.gateway &&
    (wanted.index === undefined || found.index === wanted.index)
  );
}

function describeRoute({ destination, gateway, type }: NewRoute): string {
  const target =
    destination.prefix === 0
      ? `the default route of ${destination.address}`
      : `the route to ${formatCidr(destination)}`;
  return gateway === undefined ? `${target} (${type ?? 'unicast'})` : `${target} by ${gateway}`;
}

/** What a task may change of the link and the plan does not speak of; `flags` as they were on the host. */
function linkDrift({ master, flags: present }: Link, name: string, flags: number): string[] {
  const differs = (flag: number) => ((present ^ flags) & flag) !== 0;
  return [
    ...(master === undefined ? [] : [`${name} is a port of another link of the task`]),
    ...(differs(linkFlags.promiscuous) ? [`${name}: promiscuous mode was changed`] : []),
    ...(differs(linkFlags.allMulticast) ? [`${name}: the taking of all multicast was changed`] : []),
    ...(differs(linkFlags.noArp) ? [`${name}: ARP was turned on or off`] : []),
  ];
}

/** What of the ENI in its task differs from the plan, a sentence each; `flags` are the ENI's of before the attach. */
export async function eniDrift(
  session: NetlinkSession,
  identity: EniIdentity,
  plan: EniPlan,
  flags = 0,
): Promise<string[]> {
  const link = findInTask(await session.links(), identity);
  if (link === undefined) return ['the ENI is not in the task'];
  const [addresses, ...routes] = await Promise.all([
    session.addresses(link.index),
    session.routes(families.ipv4),
    session.routes(families.ipv6),
  ]);
  const found = linkDrift(link, plan.interface, flags);
  const expect = (holds: boolean, text: string) => void (holds || found.push(text));
  const name = plan.interface;
  expect(link.name === name, `the ENI is called ${link.name}, not ${name}`);
  expect(link.up, `${name} is down`);
  expect(link.mtu === plan.mtu, `${name} has the MTU ${link.mtu}, not ${plan.mtu}`);
  expect(link.mac === identity.mac, `${name} has the MAC address ${link.mac}, not ${identity.mac}`);
  expect(link.alias === identity.alias, `${name} does not bear the mark of the task`);
  const wanted = [plan.ipv4, plan.ipv6].flatMap((cidr) => cidr ?? []).map(formatCidr);
  const present = addresses.map(formatCidr);
  for (const cidr of wanted) expect(present.includes(cidr), `${name} lacks ${cidr}`);
  for (const cidr of present.filter((other) => !other.startsWith('fe80:')))
    expect(wanted.includes(cidr), `${name} has the foreign address ${cidr}`);
  const all = routes.flat();
  for (const route of routesOf(plan, link.index, kernelHasIpv6()))
    expect(
      all.some((other) => isRoute(other, route)),
      `${describeRoute(route)} is missing`,
    );
  return found;
}
