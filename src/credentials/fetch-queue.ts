interface Waiting {
  readonly start: () => void;
  readonly urgent: boolean;
}

/** Lets a few fetches run at a time; those that somebody waits for go before those that were due anyway. */
export class FetchQueue {
  private running = 0;
  private waiting: Waiting[] = [];

  constructor(private readonly most: number) {}

  async run<T>(urgent: boolean, fetch: () => Promise<T>): Promise<T> {
    if (this.running >= this.most) await new Promise<void>((start) => this.enqueue({ start, urgent }));
    else this.running += 1;
    try {
      return await fetch();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next.start();
    }
  }

  private enqueue(entry: Waiting): void {
    const firstOther = entry.urgent ? this.waiting.findIndex(({ urgent }) => !urgent) : -1;
    if (firstOther === -1) this.waiting.push(entry);
    else this.waiting.splice(firstOther, 0, entry);
  }
}
