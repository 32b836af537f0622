/** Milliseconds. The first is shorter than the time between two looks, so that the next look tries again. */
const firstDelay = 2000;
const longestDelay = 60_000;

interface Failing {
  readonly reason: string;
  readonly delay: number;
  readonly due: number;
}

/** What failed and is tried again, each by a key: ever more seldom, and worth a line in the log only when it fails anew or otherwise. */
export class Retries {
  private readonly failing = new Map<string, Failing>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** False while what failed is to be left alone. */
  isDue(key: string): boolean {
    const failing = this.failing.get(key);
    return failing === undefined || this.now() >= failing.due;
  }

  /** True when it did not fail before, or for another reason. */
  failed(key: string, reason: string): boolean {
    const before = this.failing.get(key);
    const delay = before === undefined ? firstDelay : Math.min(before.delay * 2, longestDelay);
    this.failing.set(key, { reason, delay, due: this.now() + delay });
    return before?.reason !== reason;
  }

  succeeded(key: string): void {
    this.failing.delete(key);
  }

  /** The task is gone, and with it all that failed of it: the keys that end with its hash. */
  forget(hash: string): void {
    for (const key of this.failing.keys()) if (key.endsWith(hash)) this.failing.delete(key);
  }

  /** Something has changed for the better: all that failed is due now. */
  hurry(): void {
    for (const [key, failing] of this.failing) this.failing.set(key, { ...failing, due: this.now() });
  }
}
