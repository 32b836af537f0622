import type { Logger } from 'pino';
import type { AssumeRoleRequest } from '../attachments/request.js';
import { TaskEniError, describeError } from '../errors.js';
import type { FetchQueue } from './fetch-queue.js';
import { refreshDelay, retryDelay } from './refresh.js';
import type { ServedCredentials } from './server/messages.js';
import type { StsSource } from './sts.js';

export type RefreshOutcome = 'success' | 'refused' | 'timeout';

export interface RoleCredentialsParts {
  readonly taskId: string;
  readonly role: AssumeRoleRequest;
  readonly source: Pick<StsSource, 'assume'>;
  /** Shared by all tasks; a fetch that somebody waits for does not queue. */
  readonly queue: FetchQueue;
  readonly logger: Logger;
  readonly onOutcome: (outcome: RefreshOutcome) => void;
  /** Stops it too. */
  readonly signal: AbortSignal;
  /** Takes each new set of credentials but the first of {@link RoleCredentials.begin}. */
  readonly publish: (credentials: ServedCredentials) => void;
}

/** A long sleep is cut, so that a host that was suspended or whose clock was set refreshes soon after. Milliseconds. */
const longestSleep = 30_000;

/**
 * Keeps the credentials of one task's role fresh until it is stopped. There is one loop and it waits for each answer, so
 * STS has at most one request of the task at a time, however many containers fetch.
 */
export class RoleCredentials {
  private readonly stopped = new AbortController();
  private readonly signal: AbortSignal;

  constructor(private readonly parts: RoleCredentialsParts) {
    this.signal = AbortSignal.any([parts.signal, this.stopped.signal]);
  }

  /** Fetches for a caller who waits, and keeps them fresh from then on. Throws what {@link StsSource.assume} throws. */
  async begin(): Promise<ServedCredentials> {
    const first = await this.fetch();
    void this.keepFresh(waitAfter(first));
    return first;
  }

  /** Fetches by itself after `milliseconds`, and goes on however often that fails. */
  resume(milliseconds: number): void {
    void this.keepFresh(milliseconds);
  }

  stop(): void {
    this.stopped.abort();
  }

  private async fetch(): Promise<ServedCredentials> {
    const { source, taskId, role, onOutcome } = this.parts;
    const { signal } = this;
    try {
      const fresh = await source.assume({ taskId, role, signal });
      signal.throwIfAborted();
      onOutcome('success');
      return fresh;
    } catch (error) {
      if (!signal.aborted) onOutcome(kindOf(error));
      throw error;
    }
  }

  private async keepFresh(firstWait: number): Promise<void> {
    const { signal } = this;
    let wait = firstWait;
    let failures = 0;
    while (!signal.aborted) {
      await sleepUntil(Date.now() + wait, signal);
      try {
        signal.throwIfAborted();
        const fresh = await this.parts.queue.run(() => this.fetch());
        this.parts.publish(fresh);
        failures = 0;
        wait = waitAfter(fresh);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        wait = retryDelay(failures, kindOf(error), Math.random());
        this.warn(error, failures, wait);
      }
    }
  }

  private warn(error: unknown, failures: number, wait: number): void {
    const { taskId, logger } = this.parts;
    const retryInSeconds = Math.round(wait / 1000);
    logger.warn({ taskId, failures, retryInSeconds, problem: describeError(error) }, 'credentials were not refreshed');
  }
}

function waitAfter(fresh: ServedCredentials): number {
  return refreshDelay(fresh.expiration - Date.now(), Math.random());
}

function kindOf(error: unknown): 'refused' | 'timeout' {
  return error instanceof TaskEniError && error.code === 'credentials-refused' ? 'refused' : 'timeout';
}

/** Resolves early when aborted. */
async function sleepUntil(time: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && Date.now() < time) await sleep(Math.min(longestSleep, time - Date.now()), signal);
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    timer.unref();
    signal.addEventListener('abort', wake);
  });
}
