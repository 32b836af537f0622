/** Lets a few fetches run at a time, in the order in which they came. For those that nobody waits for. */
export class FetchQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly most: number) {}

  async run<T>(fetch: () => Promise<T>): Promise<T> {
    if (this.running >= this.most) await new Promise<void>((start) => this.waiting.push(start));
    else this.running += 1;
    try {
      return await fetch();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
