import { run } from '../lab/command.js';
import { type TaskNamespace, serverAddress } from './bridge-world.js';

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
export function fetchIn(task: TaskNamespace, path: string, how: Fetching = {}): Promise<Fetched> {
  return fetchInNamespace(`/run/netns/${task.name}`, path, how);
}

export async function fetchInNamespace(netns: string, path: string, how: Fetching = {}): Promise<Fetched> {
  const options = JSON.stringify({ url: `http://${serverAddress}${path}`, ...how });
  return JSON.parse(await run('nsenter', [`--net=${netns}`, '--', process.execPath, client, options])) as Fetched;
}
