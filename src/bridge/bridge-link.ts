/** The bridge itself: one link with its addresses, made or repaired to what the settings say. */
import type { Logger } from 'pino';
import { type Ipv4Cidr, addressToBytes, formatCidr } from '../addresses/cidr.js';
import { type Mac, macFromBytes } from '../addresses/mac.js';
import { TaskEniError } from '../errors.js';
import { scopes } from '../kernel/address-message.js';
import { isErrno } from '../kernel/errno.js';
import type { Link } from '../kernel/link-message.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { type SysctlKey, writeIpv6Sysctls, writeSysctls } from '../kernel/sysctl.js';
import type { Settings } from '../settings.js';
import { portMtu } from './port.js';

export type BridgeSettings = Pick<
  Settings,
  'instance' | 'bridge' | 'bridgeSubnet' | 'bridgeAddress' | 'credentialsAddress'
>;

/**
 * Locally administered and fixed by the bridge's address: a bridge without one takes the lowest MAC of its ports, which
 * changes as tasks come and go, and with it what every task has in its neighbour entry.
 */
export function bridgeMac(settings: Pick<BridgeSettings, 'bridgeAddress'>): Mac {
  return macFromBytes(Buffer.concat([Buffer.from([0x0a, 0x57]), addressToBytes(settings.bridgeAddress)])) as Mac;
}

export function bridgeAddresses(settings: BridgeSettings): Ipv4Cidr[] {
  return [
    { address: settings.bridgeAddress, prefix: settings.bridgeSubnet.prefix },
    { address: settings.credentialsAddress.host, prefix: 32 },
  ];
}

/** Nothing is forwarded or answered but what the credentials server listens for, and that may be any user's. */
const ipv4Settings: readonly (readonly [SysctlKey, number])[] = [
  ['net/ipv4/ip_forward', 0],
  ['net/ipv4/conf/all/rp_filter', 1],
  ['net/ipv4/conf/default/rp_filter', 1],
  ['net/ipv4/conf/all/accept_redirects', 0],
  ['net/ipv4/conf/default/accept_redirects', 0],
  ['net/ipv4/icmp_echo_ignore_all', 1],
  ['net/ipv4/ip_unprivileged_port_start', 0],
];
/** The bridge would answer on a fe80:: address. */
const ipv6Settings: readonly (readonly [SysctlKey, number])[] = [
  ['net/ipv6/conf/all/disable_ipv6', 1],
  ['net/ipv6/conf/default/disable_ipv6', 1],
];

export function sealNamespace(namespace: Namespace): void {
  writeSysctls(namespace, ipv4Settings);
  writeIpv6Sysctls(namespace, ipv6Settings);
}

async function findBridge(session: NetlinkSession, settings: BridgeSettings): Promise<Link | undefined> {
  const link = await session.linkByName(settings.bridge);
  if (link === undefined || link.kind === 'bridge') return link;
  const what = link.kind === undefined ? 'a physical link' : `a ${link.kind} link`;
  throw new TaskEniError(
    'step-failed',
    `${settings.bridge} in the namespace ${settings.instance} is ${what}, not a bridge; it is left as it is`,
  );
}

async function createBridge(session: NetlinkSession, settings: BridgeSettings, logger: Logger): Promise<Link> {
  try {
    await session.createBridge(settings.bridge, bridgeMac(settings), portMtu);
    logger.info({ bridge: settings.bridge, namespace: settings.instance }, 'bridge made');
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
  const bridge = await findBridge(session, settings);
  if (bridge !== undefined) return bridge;
  throw new TaskEniError('step-failed', `${settings.bridge} was deleted as soon as it was made`);
}

async function repairAddresses(
  session: NetlinkSession,
  bridge: Link,
  settings: BridgeSettings,
  logger: Logger,
): Promise<void> {
  const present = await session.addresses(bridge.index);
  const wanted = bridgeAddresses(settings);
  const missing = wanted.filter((cidr) => !present.some((address) => formatCidr(address) === formatCidr(cidr)));
  const foreign = present.filter((address) => !wanted.some((cidr) => formatCidr(address) === formatCidr(cidr)));
  for (const address of foreign) {
    logger.warn({ bridge: bridge.name, address: formatCidr(address) }, 'removing a foreign address from the bridge');
    await session.deleteAddress(bridge.index, address);
  }
  for (const cidr of missing) await session.addAddress(bridge.index, cidr, scopes.link);
}

/** Makes the bridge, or repairs what differs of it. Throws step-failed when its name is that of another kind of link. */
export async function ensureBridge(session: NetlinkSession, settings: BridgeSettings, logger: Logger): Promise<Link> {
  const bridge = (await findBridge(session, settings)) ?? (await createBridge(session, settings, logger));
  const mac = bridgeMac(settings);
  if (bridge.mac !== mac || bridge.mtu !== portMtu) await session.setLink(bridge.index, { mac, mtu: portMtu });
  await repairAddresses(session, bridge, settings, logger);
  if (!bridge.up) await session.setLink(bridge.index, { up: true });
  return { ...bridge, mac, up: true };
}

/** What of the bridge differs from the settings, a sentence each. */
export async function bridgeDrift(
  session: NetlinkSession,
  bridge: Link | undefined,
  settings: BridgeSettings,
): Promise<string[]> {
  if (bridge === undefined) return [`${settings.bridge} is missing`];
  const present = new Set((await session.addresses(bridge.index)).map(formatCidr));
  const wanted = bridgeAddresses(settings).map(formatCidr);
  return [
    ...(bridge.kind === 'bridge' ? [] : [`${settings.bridge} is not a bridge`]),
    ...(bridge.up ? [] : [`${settings.bridge} is down`]),
    ...(bridge.mac === bridgeMac(settings) ? [] : [`${settings.bridge} has another hardware address`]),
    ...wanted.filter((cidr) => !present.has(cidr)).map((cidr) => `${settings.bridge} lacks ${cidr}`),
  ];
}
