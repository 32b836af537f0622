import { type IpFamily, families } from '../kernel/address-message.js';
import { type Route, tables } from '../kernel/route-message.js';

/**
 * The links that the host lives by: those of the default route that it really uses. Another ENI may have one as well, in a
 * table of its own or with a worse metric. Pure.
 */
export function primaryLinks(routes: readonly Route[]): Set<number> {
  const ipv4 = bestLinks(routes, families.ipv4);
  const ipv6 = bestLinks(routes, families.ipv6);
  // Routers that advertise themselves on every ENI give each a route that is as good as the others: IPv4 tells them apart.
  const both = ipv6.filter((index) => ipv4.includes(index));
  return new Set([...ipv4, ...(both.length > 0 ? both : ipv6)]);
}

/** Of the default routes with the lowest metric in the main table; several when they are as good as each other. */
function bestLinks(routes: readonly Route[], family: IpFamily): number[] {
  const defaults = routes.filter(
    (route) =>
      route.family === family && route.table === tables.main && route.destination.prefix === 0 && route.hops.length > 0,
  );
  const best = Math.min(...defaults.map(metricOf));
  return defaults.filter((route) => metricOf(route) === best).flatMap(({ hops }) => hops);
}

/** A route of IPv4 without a metric has 0, the best there is. */
function metricOf({ metric }: Route): number {
  return metric ?? 0;
}
