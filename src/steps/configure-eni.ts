import { setTimeout as sleep } from 'node:timers/promises';
import type { Ipv6 } from '../addresses/cidr.js';
import { clearMetadataBlock, configureEni, learnedIpv6Gateway } from '../eni/configure.js';
import { findInTask } from '../eni/eni-search.js';
import { TaskEniError } from '../errors.js';
import type { Link } from '../kernel/link-message.js';
import type { NetlinkSession } from '../kernel/netlink.js';
import { eniIdentity } from './move-eni.js';
import type { Handler } from './run-plan.js';
import type { Step } from './step.js';
import type { TaskContext } from './task-context.js';

/** How long READY waits for a router advertisement when IPv6 is all that the ENI has, in milliseconds. */
const gatewayPatience = 3000;
const gatewayLookEvery = 50;

/** Name, addresses and routes of the ENI in the task. They go when it leaves, but for the routes that block metadata. */
export function configureEniStep(): Handler<'configure-eni', TaskContext> {
  return {
    async do(step, context) {
      const session = context.openNetlink();
      const link = await findMoved(session, context);
      await configureEni({ session, namespace: context.openNamespace() }, link, step);
      if (step.ipv4 === null && step.ipv6 !== null && step.ipv6Gateway === null)
        await awaitGateway(session, link.index, context);
    },
    async undo(step, context) {
      const session = context.netlink();
      if (session !== undefined && step.blockInstanceMetadata) await clearMetadataBlock(session);
    },
  };
}

async function findMoved(session: NetlinkSession, context: TaskContext): Promise<Link> {
  const { record } = context;
  const moved = record.plan.find((step): step is Step<'move-eni'> => step.kind === 'move-eni');
  const known = record.eni?.device?.index;
  const byIndex = known === undefined ? undefined : await session.linkByIndex(known);
  const link = byIndex ?? (moved && findInTask(await session.links(), eniIdentity(record, moved)));
  if (link !== undefined) return link;
  throw new TaskEniError('step-failed', 'the ENI has left the sandbox');
}

async function awaitGateway(session: NetlinkSession, index: number, context: TaskContext): Promise<void> {
  const until = performance.now() + gatewayPatience;
  let gateway: Ipv6 | undefined;
  while (gateway === undefined && performance.now() < until) {
    await sleep(gatewayLookEvery, undefined, { signal: context.signal });
    gateway = await learnedIpv6Gateway(session, index);
  }
  const { eni, warnings } = context.record;
  if (gateway === undefined)
    context.update({ warnings: [...warnings, 'no router has advertised itself yet: there is no default route'] });
  else if (eni !== null) context.update({ eni: { ...eni, ipv6Gateway: gateway } });
}
