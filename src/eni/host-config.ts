/** What the host may have configured on an ENI before it is a task's: found, and taken away. */
import type { Logger } from 'pino';
import { formatCidr } from '../addresses/cidr.js';
import { TaskEniError } from '../errors.js';
import { type Address, families } from '../kernel/address-message.js';
import { ignoring } from '../kernel/errno.js';
import type { Link } from '../kernel/link-message.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { type Route, tables } from '../kernel/route-message.js';
import type { Rule } from '../kernel/rule-message.js';

/** RT_TABLE_* that every host has: a rule to one of them is nobody's alone. */
const commonTables: ReadonlySet<number> = new Set([0, tables.default, tables.main, tables.local]);

/** The rules that only make sense with the link: from one of its addresses, by its name, or to a table of its own. */
export function rulesOf(
  link: Pick<Link, 'index' | 'name'>,
  { addresses, rules, routes }: { addresses: readonly Address[]; rules: readonly Rule[]; routes: readonly Route[] },
): Rule[] {
  const own = new Set<string>(
    addresses.filter((address) => address.index === link.index).map((entry) => entry.address),
  );
  const isHostPrefix = ({ source }: Rule) =>
    source !== undefined && source.prefix === (source.address.includes(':') ? 128 : 32);
  const leadsOnlyByLink = (rule: Rule): boolean => {
    const inTable = routes.filter((route) => route.table === rule.table && route.family === rule.family);
    return (
      inTable.length > 0 &&
      inTable.every((route) => route.hops.length > 0 && route.hops.every((hop) => hop === link.index))
    );
  };
  return rules.filter(
    (rule) =>
      (isHostPrefix(rule) && own.has(rule.source?.address ?? '')) ||
      rule.incoming === link.name ||
      rule.outgoing === link.name ||
      (!commonTables.has(rule.table) && leadsOnlyByLink(rule)),
  );
}

/** The link's addresses and rules, listed with as few answers to wait for as can be. */
async function findConfig(session: NetlinkSession, link: Link): Promise<{ addresses: Address[]; rules: Rule[] }> {
  const [addresses, rules] = await Promise.all([session.addresses(link.index), session.rules()]);
  const needRoutes = rules.some((rule) => !commonTables.has(rule.table));
  const routes = needRoutes ? await Promise.all([session.routes(families.ipv4), session.routes(families.ipv6)]) : [];
  return { addresses, rules: rulesOf(link, { addresses, rules, routes: routes.flat() }) };
}

/** Takes the link down and its addresses away; routes by it go with its being up. */
export async function makeBare(session: NetlinkSession, index: number, addresses: readonly Address[]): Promise<void> {
  // IPv6 addresses go with its being up, too, unless keep_addr_on_down is set.
  const gone = ignoring('EADDRNOTAVAIL', 'ENODEV');
  await Promise.all([
    session.setLink(index, { up: false }),
    ...addresses.map((address) => session.deleteAddress(index, address).catch(gone)),
  ]);
}

/**
 * Removes the ENI's rules, routes and addresses, and takes it down. Rules would outlive its move. A DHCP client that the host
 * runs on it is to be stopped before (stopHostClient), or it sets the addresses again.
 */
export async function clearHostConfig(session: NetlinkSession, index: number, logger: Logger): Promise<void> {
  // Looked at once more: udev may have renamed it since it was found.
  const link = await session.linkByIndex(index);
  if (link === undefined) throw new TaskEniError('step-failed', `link ${index} has left the host`);
  const { addresses, rules } = await findConfig(session, link);
  if (rules.length > 0 || addresses.length > 0)
    logger.info(
      { link: link.name, addresses: addresses.map(formatCidr), rules: rules.map((rule) => rule.priority) },
      "removing the host's configuration of the ENI",
    );
  await Promise.all([
    ...rules.map((rule) => session.deleteRule(rule).catch(ignoring('ENOENT'))),
    makeBare(session, index, addresses),
  ]);
}
