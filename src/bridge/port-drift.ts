import type { Link } from '../kernel/link-message.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { type PortPlan, hasPortFlags } from './port.js';

/** What of the bridge's end differs from the plan, a sentence each. */
export async function portDrift(
  session: NetlinkSession,
  bridge: Link | undefined,
  plan: PortPlan,
  port: Link | undefined,
): Promise<string[]> {
  if (port === undefined) return [`${plan.port} is missing on the bridge`];
  if (bridge === undefined) return [`${plan.port} is without a bridge`];
  const [forwarding, neighbours] = await Promise.all([session.forwardingEntries(), session.neighbours(bridge.index)]);
  const found: string[] = [];
  const expect = (holds: boolean, text: string) => void (holds || found.push(`${plan.port} ${text}`));
  expect(port.master === bridge.index, `is not a port of ${bridge.name}`);
  expect(port.up, 'is down');
  expect(port.alias === plan.alias, 'does not bear the mark of the task');
  expect(hasPortFlags(port), 'has lost the flags that keep it apart from other ports');
  const entries = forwarding.filter((entry) => entry.mac === plan.mac);
  const isForwarded = entries.some((entry) => entry.port === port.index && entry.isStatic);
  expect(isForwarded, `lacks the forwarding entry of ${plan.mac}`);
  expect(
    entries.every((entry) => entry.port === port.index),
    `is not alone with the forwarding entry of ${plan.mac}`,
  );
  const neighbour = neighbours.find((entry) => entry.address === plan.address);
  expect(neighbour?.permanent === true && neighbour.mac === plan.mac, `lacks the neighbour entry of ${plan.address}`);
  return found;
}
