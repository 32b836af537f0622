/** Ctrl-C, or a request to end. Further ones are passed over, so that nothing keeps the demo from cleaning up. */
export class Interruption {
  /** Resolves with the exit code (128 and the signal's number, as shells have it) when nobody waits for the end. */
  readonly unexpected: Promise<number>;
  happened = false;
  private awaited: (() => void) | undefined;

  constructor() {
    this.unexpected = new Promise((resolve) => {
      for (const [signal, number] of [
        ['SIGHUP', 1],
        ['SIGINT', 2],
        ['SIGTERM', 15],
      ] as const)
        process.on(signal, () => this.interrupt(() => resolve(128 + number)));
    });
  }

  /** For when being interrupted is what one waits for. */
  wait(): Promise<void> {
    return new Promise((resolve) => (this.awaited = resolve));
  }

  private interrupt(end: () => void): void {
    if (this.happened) return;
    this.happened = true;
    (this.awaited ?? end)();
  }
}
