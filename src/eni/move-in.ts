import { TaskEniError } from '../errors.js';
import type { Link } from '../kernel/link-message.js';
import type { Namespace } from '../kernel/namespaces.js';
import type { NetlinkSession } from '../kernel/netlink.js';

export interface MoveIn {
  readonly host: NetlinkSession;
  readonly link: Link;
  readonly task: NetlinkSession;
  readonly taskNamespace: Namespace;
  /** The mark; at most 254 bytes. */
  readonly alias: string;
  /** A name that nothing in the task has: the name it will bear there may still be taken at this moment. */
  readonly temporaryName: string;
}

/** Moves the ENI into the task's namespace, marked, down and bare, and gives it back as it is there. */
export async function moveIn({ host, link, task, taskNamespace, alias, temporaryName }: MoveIn): Promise<Link> {
  const { index } = link;
  // A link that is down moves quicker. A port of a bridge is not moved as one.
  const prepared = host.setLink(index, { up: false, ...(link.master === undefined ? {} : { master: 0 }) });
  await Promise.all([prepared, host.moveLink(index, taskNamespace, { name: temporaryName, alias })]);
  const moved = await task.linkByName(temporaryName);
  if (moved !== undefined) return moved;
  throw new TaskEniError('step-failed', `${link.name} left the sandbox as soon as it was moved there`);
}
