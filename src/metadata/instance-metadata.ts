import { Agent } from 'node:http';
import { describeError } from '../errors.js';
import { type Clock, monotonicClock } from './clock.js';
import { type Answer, exchange } from './exchange.js';
import { unlessAborted } from './unless-aborted.js';

/** Seconds; the longest that the service grants (EC2 User Guide, "Use the Instance Metadata Service"). */
const tokenLifeSeconds = 21_600;
const tokenHeader = 'x-aws-ec2-metadata-token';
/** A read refused this often with tokens just given is given up. */
const maxAttempts = 3;

/** Instance metadata did not answer, or not as it should. `status` is null when no answer came. */
export class MetadataError extends Error {
  override readonly name = 'MetadataError';
  constructor(
    message: string,
    readonly status: number | null,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }

  /** Asking again will hardly help: the token is not taken (401), or metadata is switched off (403). */
  get refused(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

export interface InstanceMetadataOptions {
  /** Base URL without a trailing slash, e.g. `http://169.254.169.254`. */
  readonly endpoint: string;
  /** For one request. Instance metadata mostly answers within milliseconds, but throttles; who is in a hurry gives a signal. */
  readonly timeoutMilliseconds?: number;
  readonly clock?: Clock;
}

/**
 * EC2 instance metadata, version 2 only: whatever happens, no request goes out without a token.
 * - However many callers there are, one token is asked for at a time and shared.
 * - A token is renewed before it ends; one that is refused (401) is replaced once for all who had it.
 */
export class InstanceMetadata {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 16 });
  private readonly clock: Clock;
  private readonly timeoutMilliseconds: number;
  private readonly endpoint: string;
  private token: { readonly value: string; readonly renewAt: number } | undefined;
  private asking: Promise<string> | undefined;

  constructor({ endpoint, timeoutMilliseconds = 5000, clock = monotonicClock }: InstanceMetadataOptions) {
    this.endpoint = endpoint;
    this.timeoutMilliseconds = timeoutMilliseconds;
    this.clock = clock;
  }

  /**
   * Reads one key below /latest/meta-data/; undefined when it is not there (404) or empty.
   * Throws {@link MetadataError}, or the signal's reason once that is aborted.
   */
  async get(path: string, signal?: AbortSignal): Promise<string | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await unlessAborted(this.currentToken(), signal);
      const answer = await this.send('GET', `meta-data/${path}`, { [tokenHeader]: token }, signal);
      if (answer.status !== 401 || attempt === maxAttempts) return readAnswer(path, answer);
      if (this.token?.value === token) this.token = undefined;
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private currentToken(): Promise<string> {
    if (this.token !== undefined && this.clock.now() < this.token.renewAt) return Promise.resolve(this.token.value);
    this.asking ??= this.askForToken().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async askForToken(): Promise<string> {
    const { status, headers, body } = await this.send('PUT', 'api/token', {
      [`${tokenHeader}-ttl-seconds`]: String(tokenLifeSeconds),
    });
    // A token goes into a header as it is; what cannot is none, whatever the status.
    if (status !== 200 || !/^[\x21-\x7e]{1,1024}$/.test(body))
      throw new MetadataError(`instance metadata gives no token: ${status}`, status);
    const granted = Number(headers[`${tokenHeader}-ttl-seconds`] ?? tokenLifeSeconds);
    const life = Number.isFinite(granted) ? granted : tokenLifeSeconds;
    // Renewed with a tenth of its life left.
    this.token = { value: body, renewAt: this.clock.now() + life * 900 };
    return body;
  }

  private async send(
    method: 'GET' | 'PUT',
    path: string,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const { agent, timeoutMilliseconds } = this;
    try {
      return await exchange({
        agent,
        url: `${this.endpoint}/latest/${path}`,
        method,
        headers,
        timeoutMilliseconds,
        signal,
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new MetadataError(`instance metadata does not answer: ${describeError(error)}`, null, error);
    }
  }
}

function readAnswer(path: string, { status, body }: Answer): string | undefined {
  if (status === 404) return undefined;
  if (status === 200) return body.trim() === '' ? undefined : body.trim();
  const reason = status === 401 ? 'it refuses tokens that it has just given' : 'that is not an answer to a read';
  throw new MetadataError(`instance metadata answers ${status} for ${path}: ${reason}`, status);
}
