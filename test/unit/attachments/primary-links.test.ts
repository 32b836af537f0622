import { expect, it } from 'vitest';
import { primaryLinks } from '../../../src/attachments/primary-links.js';
import { families } from '../../../src/kernel/address-message.js';
import { type Route, defaultIpv4, defaultIpv6, routeOrigins, tables } from '../../../src/kernel/route-message.js';

function route(index: number, change: Partial<Route> = {}): Route {
  return {
    family: families.ipv4,
    type: 'unicast',
    destination: defaultIpv4,
    gateway: undefined,
    index,
    hops: [index],
    table: tables.main,
    origin: routeOrigins.static,
    metric: undefined,
    ...change,
  };
}
const ipv6 = (index: number, metric = 1024): Route =>
  route(index, { family: families.ipv6, destination: defaultIpv6, metric });

it.each<[string, Route[], number[]]>([
  ['has the only default route', [route(2)], [2]],
  ['has the default route with the best metric', [route(3, { metric: 200 }), route(2, { metric: 100 })], [2]],
  ['has a default route without a metric', [route(3, { metric: 100 }), route(2)], [2]],
  ['has the default route of the main table', [route(3, { table: 1001 }), route(2, { metric: 512 })], [2]],
  ['is any of several that are as good as each other', [route(2, { metric: 100 }), route(3, { metric: 100 })], [2, 3]],
  ['is any next hop of the best', [route(2, { index: undefined, hops: [2, 4] }), route(3, { metric: 9 })], [2, 4]],
  ['has the best of either family', [route(2, { metric: 100 }), ipv6(3, 100), ipv6(2, 512)], [2, 3]],
  ['is told by IPv4 where a router advertises itself on each', [route(2), ipv6(2), ipv6(3)], [2]],
  ['is any that a router advertises itself on without IPv4', [ipv6(2), ipv6(3)], [2, 3]],
  ['is not there without a default route', [route(2, { destination: { ...defaultIpv4, prefix: 8 } })], []],
  [
    'is not that of a route to nowhere',
    [route(1, { type: 'blackhole', hops: [], index: undefined }), route(2, { metric: 7 })],
    [2],
  ],
])("the host's own interface %s", (_what, routes, links) => {
  expect([...primaryLinks(routes)].toSorted()).toEqual(links);
});
