/**
 * What the control process tells the server: a JSON line for each change, numbered, so that the server can say how far
 * it has come. Pure; both sides use it.
 */

/** Credentials as they are served. Secret. */
export interface ServedCredentials {
  readonly roleArn: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** Milliseconds since the epoch. */
  readonly expiration: number;
}

/** An id and the one task that may use it; without credentials it is known but answered 503. */
export interface Entry {
  readonly id: string;
  readonly taskId: string;
  /** IPv4 address in dotted decimals from which the task's requests come. */
  readonly address: string;
  readonly credentials: ServedCredentials | null;
}

/** Requests a second and burst for each task. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface Configuration {
  readonly host: string;
  readonly port: number;
  readonly rate: Rate;
  /** Whether the audit log's descriptor was handed over. */
  readonly audit: boolean;
}

export type Message =
  | { readonly do: 'configure'; readonly configuration: Configuration }
  /** Answer from now on. */
  | { readonly do: 'listen' }
  | { readonly do: 'put'; readonly entry: Entry }
  | { readonly do: 'forget'; readonly id: string }
  /** Every task is known by now: an id that is not is nobody's. */
  | { readonly do: 'complete' }
  /** Fetch over the real address and say so when it worked. */
  | { readonly do: 'probe' }
  /** Another process takes over the listening socket: finish what is open, then end. */
  | { readonly do: 'drain' };

export type NumberedMessage = Message & { readonly seq: number };

/** Bytes of the longest line: an entry of a 64 KiB request body, escaped, with room to spare. */
export const messageLineLimit = 512 * 1024;

/** Descriptors of the server process beside its standard ones. */
export const descriptors = { messages: 3, reports: 4, listener: 5, audit: 6 } as const;

export function formatMessage(seq: number, message: Message): string {
  return `${JSON.stringify({ seq, ...message })}\n`;
}

const verbs = new Set<unknown>([
  'configure',
  'listen',
  'put',
  'forget',
  'complete',
  'probe',
  'drain',
] satisfies Message['do'][]);

/** Throws without a word of the line: it may hold secrets, and V8 quotes the text in its own messages. */
export function parseMessage(line: string): NumberedMessage {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error('a message is not JSON');
  }
  const message = value as Partial<NumberedMessage> | null;
  if (!Number.isSafeInteger(message?.seq) || !verbs.has(message?.do)) throw new Error('a message is of no known kind');
  return message as NumberedMessage;
}
