import { type TaskNamespace, runIn, serverAddress } from './bridge-world.js';

const client = new URL('clients/fetch-many.mjs', import.meta.url).pathname;

export interface Fetched {
  /** How many of each HTTP status, or of each errno. */
  readonly codes: Readonly<Record<string, number>>;
  /** The last answer's. */
  readonly body: string;
  readonly retryAfters: readonly string[];
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface Fetching {
  readonly count?: number;
  readonly parallel?: number;
  readonly perSecond?: number;
  readonly seconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly keepAlive?: boolean;
}

/** Fetches a path of the credentials server from inside a task. */
export async function fetchIn(task: TaskNamespace, path: string, how: Fetching = {}): Promise<Fetched> {
  const options = JSON.stringify({ url: `http://${serverAddress}${path}`, ...how });
  return JSON.parse(await runIn(task, process.execPath, [client, options])) as Fetched;
}
