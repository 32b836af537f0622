import type { Rate } from './messages.js';

interface Bucket {
  tokens: number;
  /** When `tokens` was right, in the caller's milliseconds. */
  at: number;
}

/** Sources with a bucket of their own; those beyond share one, so that no flood of addresses makes the table grow. */
const mostSources = 2048;
const shared = 'shared';

/** A token bucket for each source address, pure but for what it keeps: time comes in with every call. */
export class Limiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly rate: Rate,
    private readonly most = mostSources,
  ) {}

  get size(): number {
    return this.buckets.size;
  }

  /** Takes a token and gives 0, or gives the seconds (whole, at least 1) after which there is one again. */
  take(source: string, now: number): number {
    const bucket = this.buckets.get(source) ?? this.open(source, now);
    this.refill(bucket, now);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / this.rate.perSecond));
  }

  /** The address goes to another task, which starts with a full bucket. */
  forget(source: string): void {
    this.buckets.delete(source);
  }

  private refill(bucket: Bucket, now: number): void {
    const gained = (Math.max(0, now - bucket.at) / 1000) * this.rate.perSecond;
    bucket.tokens = Math.min(this.rate.burst, bucket.tokens + gained);
    bucket.at = now;
  }

  private open(source: string, now: number): Bucket {
    if (this.buckets.size >= this.most) this.dropFull(now);
    const key = this.buckets.size >= this.most ? shared : source;
    const found = this.buckets.get(key);
    if (found !== undefined) return found;
    const bucket = { tokens: this.rate.burst, at: now };
    this.buckets.set(key, bucket);
    return bucket;
  }

  /** A full bucket says no more than none at all. */
  private dropFull(now: number): void {
    for (const [source, bucket] of this.buckets) {
      this.refill(bucket, now);
      if (bucket.tokens >= this.rate.burst) this.buckets.delete(source);
    }
  }
}
