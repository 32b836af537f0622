import type { Logger } from 'pino';
import { type Mac, parseMac } from '../addresses/mac.js';
import { describeError } from '../errors.js';
import { type Clock, monotonicClock } from './clock.js';
import type { InstanceMetadata } from './instance-metadata.js';
import { unlessAborted } from './unless-aborted.js';

/** What instance metadata says of the host; null is what it has not said yet. */
export interface Identity {
  readonly instanceId: string | null;
  readonly instanceType: string | null;
  readonly availabilityZone: string | null;
  readonly region: string | null;
  /** Of the interface that the instance was born with, which is never a task's. */
  readonly primaryMac: Mac | null;
}

const keys = {
  instanceId: 'instance-id',
  instanceType: 'instance-type',
  availabilityZone: 'placement/availability-zone',
  region: 'placement/region',
  primaryMac: 'mac',
} as const satisfies Record<keyof Identity, string>;

const names = Object.keys(keys) as (keyof Identity)[];
const firstPause = 1000;
const longestPause = 60_000;

/**
 * The host's identity, read once and kept: none of it changes while the instance runs. Until all is known it is asked
 * for again in the background. Not knowing is an ordinary answer here (null), never an error.
 */
export class HostIdentity {
  private identity: Identity = {
    instanceId: null,
    instanceType: null,
    availabilityZone: null,
    region: null,
    primaryMac: null,
  };
  private reading: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private complained = false;

  constructor(
    private readonly metadata: Pick<InstanceMetadata, 'get'>,
    private readonly logger: Logger,
    private readonly clock: Clock = monotonicClock,
  ) {}

  /** What is known, without asking. */
  get known(): Identity {
    return this.identity;
  }

  /** Asks once for what is not known yet, and waits for the answers until the signal is aborted. */
  async read(signal?: AbortSignal): Promise<Identity> {
    if (this.complete) return this.identity;
    this.reading ??= this.readUnknown().finally(() => {
      this.reading = undefined;
    });
    await unlessAborted(this.reading, signal).catch((error: unknown) => {
      this.logger.debug({ reason: describeError(error) }, 'the host identity is not waited for any longer');
    });
    return this.identity;
  }

  /** Asks in the background until all is known. */
  start(): void {
    this.keepAsking().catch((error: unknown) => {
      if (!this.stopping.signal.aborted) this.logger.error({ reason: describeError(error) }, 'host identity: gave up');
    });
  }

  stop(): void {
    this.stopping.abort();
  }

  private get complete(): boolean {
    return names.every((name) => this.identity[name] !== null);
  }

  private async keepAsking(): Promise<void> {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      await this.read();
      if (this.complete || this.stopping.signal.aborted) return;
      await this.clock.sleep(pause, this.stopping.signal);
    }
  }

  private async readUnknown(): Promise<void> {
    const unknown = names.filter((name) => this.identity[name] === null);
    const outcomes = await Promise.allSettled(unknown.map((name) => this.metadata.get(keys[name])));
    const answers = Object.fromEntries(
      outcomes.map((outcome, index) => [unknown[index], outcome.status === 'fulfilled' ? outcome.value : undefined]),
    );
    this.identity = withAnswers(this.identity, answers);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined && !this.complained) {
      this.complained = true;
      this.logger.warn({ reason: describeError(failed.reason) }, 'the host cannot read its instance metadata yet');
    }
    if (this.complete) this.logger.info(this.identity, 'host identity known');
  }
}

function withAnswers(before: Identity, answers: Partial<Record<keyof Identity, string | undefined>>): Identity {
  const availabilityZone = before.availabilityZone ?? word(answers.availabilityZone);
  return {
    instanceId: before.instanceId ?? word(answers.instanceId),
    instanceType: before.instanceType ?? word(answers.instanceType),
    availabilityZone,
    region: before.region ?? word(answers.region) ?? regionOfZone(availabilityZone),
    primaryMac: before.primaryMac ?? parseMac(answers.primaryMac ?? '') ?? null,
  };
}

/** The value, when it can be one: not a page of a portal or a proxy. */
function word(value: string | undefined): string | null {
  return /^[\w.-]+$/.test(value ?? '') ? (value ?? null) : null;
}

/** `us-west-2` of `us-west-2a` and of a local zone such as `us-west-2-lax-1a`. */
function regionOfZone(zone: string | null): string | null {
  return /^[a-z]+(?:-[a-z]+)+-\d+/.exec(zone ?? '')?.[0] ?? null;
}
