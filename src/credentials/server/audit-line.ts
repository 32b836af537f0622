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

/** One request as a JSON line. No id and no query is in it: an id is half of what it takes to get the credentials. Pure. */
export function auditLine(audited: Audited): string {
  const { time, code, address, port, target, userAgent, taskId } = audited;
  return `${JSON.stringify({
    time: new Date(time).toISOString(),
    code,
    source: `${address}:${port}`,
    path: target === undefined ? null : auditedPath(target),
    userAgent: userAgent?.slice(0, longestUserAgent) ?? null,
    taskId: taskId ?? null,
    eventType: target?.kind === 'credentials' ? 'GetCredentials' : 'Other',
    version: auditVersion,
  })}\n`;
}

function auditedPath(target: Target): string {
  if (target.kind === 'credentials') return `/${target.api.toLowerCase()}/credentials`;
  return target.path.replace(uuid, '*').slice(0, longestPath);
}
