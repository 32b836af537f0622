import { type Namespace, openNamespace } from '../kernel/namespaces.js';
import { NetlinkSession } from '../kernel/netlink.js';
import { occupants } from '../sandboxes/occupants.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import type { Liveliness, MarkedNamespace, Traces } from './marks.js';
import { linkLocalInterface } from './plan.js';

/** What lives in the sandbox that bears our mark. Throws when there is one that cannot be looked into. */
export async function livelinessOf({ namespace, sandbox }: Traces, sandboxes: Sandboxes): Promise<Liveliness> {
  const container = sandbox?.containerId ?? null;
  const joined = container === null ? 0 : (await sandboxes.docker.joined(container)).length;
  const opened = await openOf({ namespace, sandbox }, sandboxes);
  if (opened === undefined) return { otherLinks: 0, processes: 0, joined };
  try {
    const inside = await occupants(opened);
    const pause = container === null || !sandbox?.running ? 0 : 1;
    return { otherLinks: await otherLinks(opened), processes: Math.max(0, inside.length - pause), joined };
  } finally {
    opened.close();
  }
}

/** Undefined when there is no namespace: nothing runs, and nothing is pinned. Throws when there is one that cannot be opened. */
async function openOf(
  { namespace, sandbox }: Pick<Traces, 'namespace' | 'sandbox'>,
  sandboxes: Sandboxes,
): Promise<Namespace | undefined> {
  if (namespace !== null) return openSame(namespace);
  if (sandbox === null || !sandbox.running) return undefined;
  if (sandbox.containerId === null) return openNamespace(`/run/netns/${sandbox.name}`);
  const borrowed = await sandboxes.borrow({ kind: 'container', containerId: sandbox.containerId });
  return borrowed.namespace;
}

/** What is at the path may be another by now. */
function openSame({ path, cookie }: MarkedNamespace): Namespace {
  const namespace = openNamespace(path);
  if (String(namespace.cookie) === cookie) return namespace;
  namespace.close();
  throw new Error(`its namespace is not found at ${path} any more`);
}

/** Loopback and the links that a kernel gives every namespace (tunnels) are nobody's; so is our own link-local end. */
async function otherLinks(namespace: Namespace): Promise<number> {
  const session = NetlinkSession.open(namespace);
  const links = await session.links().finally(() => session.close());
  const given = new Set([
    'lo',
    linkLocalInterface,
    'tunl0',
    'sit0',
    'ip6tnl0',
    'gre0',
    'gretap0',
    'erspan0',
    'ip_vti0',
    'ip6_vti0',
    'ip6gre0',
  ]);
  return links.filter(({ name }) => !given.has(name)).length;
}
