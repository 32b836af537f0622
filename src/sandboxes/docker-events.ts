import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import type { DockerConnection } from './docker-connection.js';
import { type DockerEvent, EventLog, type Period } from './event-log.js';
import { jsonLines } from './json-lines.js';

const actions = ['start', 'die', 'destroy'] as const;

export interface ContainerEvent {
  readonly containerId: string;
  readonly action: (typeof actions)[number];
}

/** Milliseconds. */
const firstDelay = 100;
const longestDelay = 2_000;
const checkEvery = 3_000;
const answerWithin = 3_000;
/** How long an event may take through the stream. */
const transit = 1_000;

/**
 * Docker's event stream, kept open.
 * - A stream that ends or fails is opened again, with back-off, and a relist follows each opening.
 * - A stream whose far end went away without a word looks like a quiet one. So the last seconds' events are also asked for
 *   over another connection; what only that shows is told, and the stream is replaced.
 */
export class DockerEvents {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private delay = firstDelay;
  private lost = false;

  constructor(
    private readonly connection: DockerConnection,
    private readonly logger: Logger,
    private readonly onEvent: (event: ContainerEvent) => void,
    private readonly onRelist: () => void,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.follow();
      } catch (error) {
        if (signal.aborted) return;
        if (!this.lost) this.logger.warn({ reason: describeError(error) }, 'the Docker event stream is lost');
        this.lost = true;
      }
      await pause(this.delay, signal);
      this.delay = Math.min(this.delay * 2, longestDelay);
    }
  }

  /** Throws when the stream has to be opened anew. */
  private async follow(): Promise<never> {
    const log = new EventLog(Date.now());
    const stream = await this.open();
    const done = new AbortController();
    const stop = () => stream.destroy();
    this.stopping.signal.addEventListener('abort', stop);
    const checks = this.check(log, stream, done.signal);
    try {
      this.opened();
      for await (const line of jsonLines(stream)) this.tell(log, line as DockerEvent);
      throw new Error('it ended');
    } finally {
      this.stopping.signal.removeEventListener('abort', stop);
      done.abort();
      await checks;
    }
  }

  private opened(): void {
    if (this.lost) this.logger.info('the Docker event stream is open again');
    this.lost = false;
    this.delay = firstDelay;
    this.guarded(this.onRelist);
  }

  /** Compares the stream with what the engine says of the past, and breaks the stream when it falls short. */
  private async check(log: EventLog, stream: Readable, done: AbortSignal): Promise<void> {
    for (;;) {
      await pause(checkEvery, done);
      if (done.aborted) return;
      const period = log.lookBack(Date.now(), transit);
      if (period === undefined) continue;
      try {
        const missed = (await this.past(period, done)).filter((event) => this.tell(log, event));
        if (missed.length > 0) throw new Error(`${missed.length} event(s) did not come through it`);
        log.settle(period);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  }

  private open(): Promise<Readable> {
    return this.connection.call('open its event stream', (docker, signal) => events(docker, signal), {
      within: answerWithin,
      cancel: this.stopping.signal,
    });
  }

  private past({ since, until }: Period, cancel: AbortSignal): Promise<DockerEvent[]> {
    const read = async (docker: Docker, signal: AbortSignal) => {
      const found: DockerEvent[] = [];
      const stream = await events(docker, signal, { since: since / 1000, until: until / 1000 });
      for await (const line of jsonLines(stream)) found.push(line as DockerEvent);
      return found;
    };
    return this.connection.call('tell its past events', read, { within: answerWithin, cancel });
  }

  private tell(log: EventLog, event: DockerEvent): boolean {
    const action = actions.find((known) => known === event.Action);
    if (action === undefined || !log.take(event)) return false;
    this.guarded(() => this.onEvent({ containerId: event.Actor.ID, action }));
    return true;
  }

  /** A listener that throws must not cost the stream. */
  private guarded(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.logger.error({ err: error }, 'a listener to Docker events failed');
    }
  }
}

function events(
  docker: Docker,
  signal: AbortSignal,
  period: { since?: number; until?: number } = {},
): Promise<Readable> {
  const filters = { type: ['container' as const], event: [...actions] };
  // dockerode hands out node:http's own IncomingMessage.
  return docker.getEvents({ ...period, filters, abortSignal: signal }) as Promise<Readable>;
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
