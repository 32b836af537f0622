/**
 * What the server tells the control process: counters, and nothing else. The server is the one part that tasks talk to,
 * so the control process takes from it only lines of known names and plain numbers. Pure; both sides use it.
 */

/** Bytes of the longest report. */
export const reportLineLimit = 4096;

/** Every HTTP status that the server answers with. */
export const answeredCodes = [200, 400, 403, 404, 405, 408, 429, 431, 503] as const;
export type AnsweredCode = (typeof answeredCodes)[number];

/** Upper bounds in seconds of the duration buckets; one more bucket holds what took longer. */
export const durationBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1] as const;

/** What happened since the report before, and how far the server is. */
export interface Report {
  /** Number of the last message that was carried out. */
  readonly applied: number;
  /** Number of the last probe whose fetch succeeded. */
  readonly probed: number;
  readonly listening: boolean;
  readonly requests: Readonly<Partial<Record<AnsweredCode, number>>>;
  /** Requests in each duration bucket, not cumulative: {@link durationBounds} and one more. */
  readonly durations: readonly number[];
  /** Seconds. */
  readonly durationSum: number;
  /** Audit lines that were lost to a full buffer or a failing disk. */
  readonly auditDropped: number;
  /** Connections closed because their source had too many. */
  readonly refusedConnections: number;
}

const names = new Set<string>([
  'applied',
  'probed',
  'listening',
  'requests',
  'durations',
  'durationSum',
  'auditDropped',
  'refusedConnections',
] satisfies (keyof Report)[]);
const codes = new Set<string>(answeredCodes.map(String));

/** More of anything than a server can do between two reports: a number above is a lie. */
const most = 10_000_000;

export function formatReport(report: Report): string {
  return `${JSON.stringify(report)}\n`;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isDelta = (value: unknown): value is number => isCount(value) && value <= most;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRequests(value: unknown): boolean {
  return isObject(value) && Object.entries(value).every(([code, count]) => codes.has(code) && isDelta(count));
}

function isDurations(value: unknown): boolean {
  return Array.isArray(value) && value.length === durationBounds.length + 1 && value.every(isDelta);
}

function isSeconds(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= most;
}

/** Undefined for anything that an honest server would not say. */
export function parseReport(line: string): Report | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !Object.keys(value).every((name) => names.has(name))) return undefined;
  const honest =
    isCount(value['applied']) &&
    isCount(value['probed']) &&
    typeof value['listening'] === 'boolean' &&
    isRequests(value['requests']) &&
    isDurations(value['durations']) &&
    isSeconds(value['durationSum']) &&
    isDelta(value['auditDropped']) &&
    isDelta(value['refusedConnections']);
  return honest ? (value as unknown as Report) : undefined;
}
