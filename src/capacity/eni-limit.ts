import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import { type EniLimits, eniLimits } from './eni-limits.js';

export type LimitSource = 'setting' | 'table' | 'ec2';

/** How many ENIs the host may have, and who says so; with both null, `cause` says why nobody does. */
export interface Limit {
  readonly limit: number | null;
  readonly source: LimitSource | null;
  readonly cause: string | null;
}

export interface EniLimitParts {
  /** TASK_ENI_MAX_ENIS. */
  readonly setting: number | null;
  readonly host: () => { readonly instanceType: string | null; readonly region: string | null };
  /** Asks EC2 about a type that the table does not have. */
  readonly describe: (instanceType: string, region: string) => Promise<number>;
  readonly logger: Logger;
  readonly lookUp?: (instanceType: string) => EniLimits | undefined;
  /** Milliseconds that never jump. */
  readonly now?: () => number;
}

const firstPause = 60_000;
const longestPause = 3_600_000;

/** The limit by the setting, else the table, else EC2. Answers at once: EC2 is asked in the background, and again after a failure. */
export class EniLimit {
  private answer: { readonly instanceType: string; readonly limit: number } | undefined;
  private cause: string | null = null;
  private asking = false;
  private failures = 0;
  private askAgainAt = 0;

  constructor(private readonly parts: EniLimitParts) {}

  current(): Limit {
    const { setting, host, lookUp = eniLimits } = this.parts;
    if (setting !== null) return { limit: setting, source: 'setting', cause: null };
    const { instanceType, region } = host();
    if (instanceType === null) return unknown('instance metadata has not told the instance type');
    const row = lookUp(instanceType);
    if (row !== undefined) return { limit: row.maxEnis, source: 'table', cause: null };
    if (this.answer?.instanceType === instanceType) return { limit: this.answer.limit, source: 'ec2', cause: null };
    if (region === null)
      return unknown(`${instanceType} is not in the table, and the region to ask EC2 in is not known`);
    this.askWhenDue(instanceType, region);
    return unknown(this.cause ?? `${instanceType} is not in the table; EC2 is being asked`);
  }

  private askWhenDue(instanceType: string, region: string): void {
    const now = this.parts.now ?? (() => performance.now());
    if (this.asking || now() < this.askAgainAt) return;
    this.asking = true;
    this.parts
      .describe(instanceType, region)
      .then(
        (limit) => this.note(instanceType, limit),
        (error: unknown) => this.noteFailure(instanceType, describeError(error)),
      )
      .finally(() => {
        this.asking = false;
        this.askAgainAt = now() + Math.min(firstPause * 2 ** (this.failures - 1), longestPause);
      });
  }

  private note(instanceType: string, limit: number): void {
    this.answer = { instanceType, limit };
    this.failures = 0;
    this.parts.logger.info({ instanceType, limit }, 'EC2 has told the ENI limit of this host');
  }

  private noteFailure(instanceType: string, reason: string): void {
    const cause = `${instanceType} is not in the table, and EC2 could not be asked: ${reason}`;
    if (this.failures === 0)
      this.parts.logger.warn({ instanceType, reason }, 'the ENI limit of this host is not known');
    this.failures += 1;
    this.cause = cause;
  }
}

function unknown(cause: string): Limit {
  return { limit: null, source: null, cause };
}
