/** Who comes in by a TCP listener. The unix socket needs none of this: its file mode says who may connect. Pure. */
import { TaskEniError } from '../errors.js';

/** Paths that hold nothing worth guarding; tools that probe and scrape send whatever Host they are configured with. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const openPaths: ReadonlySet<string> = new Set(['/', '/docs', '/openapi.json', ...probes]);

export interface Knock {
  /** The path as it was sent, without the query, not decoded. */
  readonly path: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
}

export interface DoorPolicy {
  /** Whether a name or address is the listener's: a page of another name that resolves here (DNS rebinding) must not get in. */
  readonly isOurName: (host: string) => boolean;
  readonly isToken: (candidate: string) => boolean;
}

/** Undefined when the request may pass. */
export function refusalAt(policy: DoorPolicy, knock: Knock): TaskEniError | undefined {
  if (probes.has(knock.path)) return undefined;
  const name = hostName(knock.host ?? '');
  if (name === undefined || !policy.isOurName(name)) {
    const message = 'must be a name or an address of this listener';
    return new TaskEniError('invalid-request', `Host ${message}`, { fields: [{ path: 'Host', message }] });
  }
  if (openPaths.has(knock.path) || knock.path.startsWith('/docs/')) return undefined;
  const candidate = /^Bearer +(\S+) *$/i.exec(knock.authorization ?? '')?.[1];
  if (candidate !== undefined && policy.isToken(candidate)) return undefined;
  const detail =
    candidate === undefined ? 'the header Authorization: Bearer is missing' : 'the token is not the right one';
  return new TaskEniError('unauthorized', detail);
}

/** The name in a Host header, in lower case, without its port (RFC 9110, section 7.2); any port, since tunnels change it. */
export function hostName(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/?#@[\]]+))(?::\d{1,5})?$/i.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** What is wrong with a request target; only the origin form, whose path Express and we read alike, is taken (RFC 9112, section 3.2). */
export function faultOfTarget(target: string): TaskEniError | undefined {
  if (!target.startsWith('/') || target.includes('#'))
    return new TaskEniError('invalid-request', 'the request target must be a path');
  try {
    decodeURIComponent(pathOf(target));
    return undefined;
  } catch (error) {
    return new TaskEniError('invalid-request', 'the path is not percent-encoded as it must be', { cause: error });
  }
}

export function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}
