import { NetlinkSession } from '../kernel/netlink.js';
import { isErrno } from '../kernel/errno.js';
import { NotANamespaceError, openNamespace } from '../kernel/namespaces.js';
import { hostNamespaces } from '../sandboxes/host-namespaces.js';
import type { Host } from './host.js';
import { type MarkedNamespace, type OwnSandbox, type Traces, marksOf } from './marks.js';
import { parseMark, sandboxName } from './names.js';

export type TraceParts = Pick<Host, 'bridge' | 'sandboxes' | 'settings' | 'sandboxKind' | 'hostNamespace'>;

/** Looks all over the host for what bears this instance's mark. Milliseconds for each namespace: for starts and doubts only. */
export async function findTraces(parts: TraceParts): Promise<Map<string, Traces>> {
  const traces = new Map<string, Traces>();
  const note = (hash: string, part: Partial<Traces>) => {
    const known = traces.get(hash) ?? { hash, port: null, namespace: null, sandbox: null };
    traces.set(hash, { ...known, ...part });
  };
  for (const port of await parts.bridge.ports()) {
    const mark = parseMark(port.alias);
    if (mark?.instance === parts.settings.instance) note(mark.hash, { port });
  }
  for (const [hash, sandbox] of await ownSandboxes(parts)) note(hash, { sandbox });
  for (const [hash, namespace] of await markedNamespaces(parts)) note(hash, { namespace });
  return traces;
}

async function ownSandboxes({ sandboxes, settings, sandboxKind }: TraceParts): Promise<[string, OwnSandbox][]> {
  const bare = (await sandboxes.bare.list()).map(({ name, hash, pinned }): [string, OwnSandbox] => [
    hash,
    { kind: 'netns', name, containerId: null, running: pinned, task: null },
  ]);
  if (sandboxKind !== 'docker') return bare;
  const prefix = sandboxName(settings.instance, '');
  const containers = await sandboxes.docker.list();
  const pauses = containers.flatMap(({ name, containerId, running, task }): [string, OwnSandbox][] => {
    const hash = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (!/^[0-9a-f]{20}$/.test(hash)) return [];
    return [[hash, { kind: 'docker', name, containerId, running, task }]];
  });
  return [...bare, ...pauses];
}

async function markedNamespaces({ settings, hostNamespace }: TraceParts): Promise<[string, MarkedNamespace][]> {
  const seen = new Set<string>([String(hostNamespace.cookie)]);
  const found: [string, MarkedNamespace][] = [];
  for (const path of await hostNamespaces()) found.push(...(await marksIn(path, settings.instance, seen)));
  return found;
}

async function marksIn(path: string, instance: string, seen: Set<string>): Promise<[string, MarkedNamespace][]> {
  try {
    const namespace = openNamespace(path);
    try {
      const cookie = String(namespace.cookie);
      if (seen.has(cookie)) return [];
      seen.add(cookie);
      const session = NetlinkSession.open(namespace);
      const links = await session.links().finally(() => session.close());
      return [...marksOf(links, instance)]
        .filter(([, eni]) => eni !== null || links.some(({ name }) => name !== 'lo'))
        .map(([hash, eni]) => [hash, { path, cookie, eni }]);
    } finally {
      namespace.close();
    }
  } catch (error) {
    // It ended between the listing and the look, or is no namespace of ours to look into.
    if (error instanceof NotANamespaceError || isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return [];
    throw error;
  }
}
