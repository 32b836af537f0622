import type { Target } from './target.js';

/** Raised when a field of the line changes its meaning. */
const auditVersion = 1;

export interface Audited {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly code: number;
  readonly address: string;
  readonly port: number;
  /** Undefined for what was no request. */
  readonly target: Target | undefined;
  readonly userAgent: string | undefined;
  /** The task that owns the source address. */
  readonly taskId: string | undefined;
}

const longestPath = 128;
const longestUserAgent = 256;
const uuid = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/gi;
const paths = { V1: '"/v1/credentials"', V2: '"/v2/credentials"' } as const;

/**
 * One request as a JSON line. No id and no query is in it: an id is half of what it takes to get the credentials. Put
 * together by hand: one line a request is the largest part of what this process adds to Node's own work. Pure.
 */
export function auditLine({ time, code, address, port, target, userAgent, taskId }: Audited): string {
  return (
    `{"time":"${isoTime(time)}","code":${code},"source":"${address}:${port}",` +
    `"path":${target === undefined ? 'null' : auditedPath(target)},` +
    `"userAgent":${userAgent === undefined ? 'null' : quotedAgent(userAgent)},` +
    `"taskId":${taskId === undefined ? 'null' : quotedTask(taskId)},` +
    `"eventType":"${target?.kind === 'credentials' ? 'GetCredentials' : 'Other'}","version":${auditVersion}}\n`
  );
}

function auditedPath(target: Target): string {
  if (target.kind === 'credentials') return paths[target.api];
  return JSON.stringify(target.path.replace(uuid, '*').slice(0, longestPath));
}

/** Remembers its last answer: what comes in a row is mostly the same. */
function remembering<T>(compute: (value: T) => string): (value: T) => string {
  let last: T | undefined;
  let answer = '';
  return (value) => {
    if (value !== last) {
      answer = compute(value);
      last = value;
    }
    return answer;
  };
}

const isoTime = remembering((time: number) => new Date(time).toISOString());
const quotedAgent = remembering((agent: string) => JSON.stringify(agent.slice(0, longestUserAgent)));
const quotedTask = remembering((taskId: string) => JSON.stringify(taskId));
