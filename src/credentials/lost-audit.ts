import type { Logger } from 'pino';

/** Milliseconds between two warnings: a disk that is full stays so for a while. */
const warnEvery = 60_000;

/** Says how many audit lines were lost to a full or slow disk, soon after the first and then once a minute. */
export class LostAudit {
  /** Since the start. */
  private total = 0;
  private warnedAt = -Infinity;

  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  add(lines: number): void {
    this.total += lines;
    if (lines === 0 || this.now() - this.warnedAt < warnEvery) return;
    this.warnedAt = this.now();
    this.logger.warn({ lines: this.total }, 'audit lines were lost: the disk of the audit log is full or slow');
  }
}
