/** An event as GET /events gives it (Docker Engine API); only what is read here. */
export interface DockerEvent {
  readonly Action: string;
  readonly Actor: { readonly ID: string };
  readonly timeNano: number;
}

/** Milliseconds since the epoch, by the engine's clock, which is this host's. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

/** Which events have been told already, so that each is told once however it is learnt of. Pure. */
export class EventLog {
  private readonly told = new Map<string, number>();
  private since: number;

  constructor(now: number) {
    this.since = now;
  }

  /** Notes the event; false when it was noted before. */
  take({ Action, Actor, timeNano }: DockerEvent): boolean {
    const key = `${timeNano} ${Actor.ID} ${Action}`;
    if (this.told.has(key)) return false;
    this.told.set(key, timeNano / 1e6);
    return true;
  }

  /** The time to look back on, up to `transit` milliseconds ago: what is younger may still be on its way. */
  lookBack(now: number, transit: number): Period | undefined {
    // A clock that was set back would make the period last until it is there again.
    if (now < this.since) this.since = now;
    const until = now - transit;
    return until > this.since ? { since: this.since, until } : undefined;
  }

  /** The period has been looked at. */
  settle({ until }: Period): void {
    this.since = until;
    for (const [key, at] of this.told) if (at < until) this.told.delete(key);
  }
}
