/** The ENI inside the task: name, addresses, routes. */
import { type Ipv4, type Ipv4Cidr, type Ipv6, type Ipv6Cidr } from '../addresses/cidr.js';
import { TaskEniError } from '../errors.js';
import { families } from '../kernel/address-message.js';
import { ignoring } from '../kernel/errno.js';
import type { Link } from '../kernel/link-message.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { type NewRoute, defaultIpv4, defaultIpv6, routeOrigins } from '../kernel/route-message.js';
import { type SysctlKey, writeIpv6Sysctls } from '../kernel/sysctl.js';

/** What the ENI is to be inside the task; null: the ENI has no such address, or the gateway is to be learnt. */
export interface EniPlan {
  readonly interface: string;
  readonly ipv4: Ipv4Cidr | null;
  readonly ipv4Gateway: Ipv4 | null;
  readonly ipv6: Ipv6Cidr | null;
  readonly ipv6Gateway: Ipv6 | null;
  readonly mtu: number;
  readonly blockInstanceMetadata: boolean;
}

/** Where instance metadata answers (EC2 User Guide, "Access instance metadata"). */
export const metadataIpv4: Ipv4Cidr = { address: '169.254.169.254' as Ipv4, prefix: 32 };
export const metadataIpv6: Ipv6Cidr = { address: 'fd00:ec2::254' as Ipv6, prefix: 128 };

/**
 * The routes that the plan asks for, beside the subnet's own; those that lead somewhere come first. IPv6 metadata is blocked
 * also where IPv6 is turned off (somebody may turn it on), but not on a kernel that has none.
 */
export function routesOf(plan: EniPlan, index: number, hasIpv6: boolean): NewRoute[] {
  const routes: NewRoute[] = [];
  if (plan.ipv4Gateway !== null) routes.push({ destination: defaultIpv4, gateway: plan.ipv4Gateway, index });
  if (plan.ipv6Gateway !== null) routes.push({ destination: defaultIpv6, gateway: plan.ipv6Gateway, index });
  if (plan.blockInstanceMetadata) {
    routes.push({ destination: metadataIpv4, type: 'blackhole' });
    if (hasIpv6) routes.push({ destination: metadataIpv6, type: 'blackhole' });
  }
  return routes;
}

/**
 * IPv6 settings before the link goes up. No address is made from router advertisements; a default route is taken from them
 * only when the ENI has IPv6 and nobody gave a gateway. accept_ra 2: also when the task forwards. accept_dad 0: without it
 * the link's own fe80:: address is tentative for a second, and the router is asked for only then.
 */
export function ipv6Settings(plan: EniPlan): (readonly [SysctlKey, number])[] {
  const key = `net/ipv6/conf/${plan.interface}` as const;
  const learn = plan.ipv6 !== null && plan.ipv6Gateway === null;
  const quiet: (readonly [SysctlKey, number])[] = [
    [`${key}/accept_dad`, 0],
    [`${key}/autoconf`, 0],
    [`${key}/accept_ra`, learn ? 2 : 0],
  ];
  if (plan.ipv6 === null) return quiet;
  // In this order: writing to `all` sets every link. Docker turns IPv6 off in all three.
  return [
    ['net/ipv6/conf/all/disable_ipv6', 0],
    ['net/ipv6/conf/default/disable_ipv6', 0],
    ...quiet,
    [`${key}/disable_ipv6`, 0],
  ];
}

async function rename(session: NetlinkSession, link: Link, plan: EniPlan): Promise<void> {
  const holder = await session.linkByName(plan.interface);
  if (holder !== undefined && holder.index !== link.index)
    throw new TaskEniError('unusable-sandbox', `the sandbox already has a link called ${plan.interface}`);
  if (link.altNames.includes(plan.interface)) await session.deleteAltNames(link.index, [plan.interface]);
  const isRenamed = link.name !== plan.interface;
  await Promise.all([
    // Before Linux 6.2 a link that is up keeps its name.
    isRenamed && link.up && session.setLink(link.index, { up: false }),
    session.setLink(link.index, {
      name: isRenamed ? plan.interface : undefined,
      mtu: link.mtu === plan.mtu ? undefined : plan.mtu,
    }),
  ]);
}

/**
 * Makes the ENI what the plan says; what is so already is left. Throws unusable-sandbox when another link of the task has
 * the ENI's name.
 */
export async function configureEni(
  { session, namespace }: { session: NetlinkSession; namespace: Namespace },
  link: Link,
  plan: EniPlan,
): Promise<void> {
  const { index } = link;
  await rename(session, link, plan);
  const hasIpv6 = writeIpv6Sysctls(namespace, ipv6Settings(plan));
  if (!hasIpv6 && plan.ipv6 !== null)
    throw new TaskEniError('unusable-eni', `the ENI has the address ${plan.ipv6.address}, and the kernel has no IPv6`);
  const exists = ignoring('EEXIST');
  await Promise.all([
    plan.ipv4 && session.addAddress(index, plan.ipv4).catch(exists),
    plan.ipv6 && session.addAddress(index, plan.ipv6).catch(exists),
    session.setLink(index, { up: true }),
    ...routesOf(plan, index, hasIpv6).map((route) => session.replaceRoute(route)),
  ]);
}

/** The gateway that a router advertised on the link; undefined until one did. */
export async function learnedIpv6Gateway(session: NetlinkSession, index: number): Promise<Ipv6 | undefined> {
  const routes = await session.routes(families.ipv6);
  const learned = routes.find(
    (route) =>
      route.origin === routeOrigins.routerAdvertisement && route.destination.prefix === 0 && route.index === index,
  );
  return learned?.gateway as Ipv6 | undefined;
}

/** Takes away the routes that block instance metadata: they belong to no link, so they outlive the ENI in a sandbox that lives on. */
export async function clearMetadataBlock(session: NetlinkSession): Promise<void> {
  const gone = ignoring('ESRCH', 'ENOENT', 'EAFNOSUPPORT', 'EOPNOTSUPP', 'ENODEV');
  const blocks = [metadataIpv4, metadataIpv6].map((destination) => ({ destination, type: 'blackhole' }) as const);
  await Promise.all(blocks.map((route) => session.deleteRoute(route).catch(gone)));
}
