/** Reads the target of a request line. Pure. */

export type Api = 'V1' | 'V2';

export type Target =
  | {
      readonly kind: 'credentials';
      readonly api: Api;
      /** Undefined when there is none. */ readonly id: string | undefined;
    }
  | { readonly kind: 'other'; readonly path: string };

const v2 = /^\/v2\/credentials(?:\/(.*))?$/s;
const v1 = '/v1/credentials';

/**
 * Ids are compared as they came: nothing is decoded and no dot segment is resolved, so `%2e`, `..` and the like can only
 * make an id that nobody has. Repeated slashes count as one: SDKs that join a base URL and the relative URI double them.
 */
export function parseTarget(text: string): Target {
  // A client that believes in a proxy sends the whole URL (RFC 9112, section 3.2.2).
  const local = text.startsWith('/') ? text : text.replace(/^http:\/\/[^/?#]*/i, '');
  const question = local.indexOf('?');
  const whole = question === -1 ? local : local.slice(0, question);
  const path = whole.includes('//') ? whole.replace(/\/{2,}/g, '/') : whole;
  if (path === v1)
    return { kind: 'credentials', api: 'V1', id: queryId(question === -1 ? '' : local.slice(question + 1)) };
  const match = v2.exec(path);
  return match === null ? { kind: 'other', path } : { kind: 'credentials', api: 'V2', id: match[1] || undefined };
}

/** The query's `id`; of several, all of them joined, which is no id. */
function queryId(query: string): string | undefined {
  const ids = query
    .split('&')
    .filter((pair) => pair.startsWith('id='))
    .map((pair) => pair.slice('id='.length));
  return ids.join(',') || undefined;
}
