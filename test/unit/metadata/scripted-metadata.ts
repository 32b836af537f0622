import type { Clock } from '../../../src/metadata/clock.js';

/** A clock that stands still but for sleeping. */
export class HandClock implements Clock {
  private milliseconds = 0;

  now(): number {
    return this.milliseconds;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.milliseconds += milliseconds;
  }

  get seconds(): number {
    return this.milliseconds / 1000;
  }
}

/** A value, or one that is there only from a second on, or one that another follows, or what a read of it throws. */
type Scripted =
  | string
  | { readonly value: string; readonly from: number }
  | { readonly value: string; readonly until: number; readonly next: string }
  | Error;

/** Instance metadata as a table; what it does not have is absent. */
export class ScriptedMetadata {
  readonly reads: string[] = [];

  constructor(
    private readonly clock: HandClock,
    readonly table: Record<string, Scripted> = {},
  ) {}

  async get(path: string, signal?: AbortSignal): Promise<string | undefined> {
    signal?.throwIfAborted();
    this.reads.push(path);
    const scripted = this.table[path];
    if (scripted instanceof Error) throw scripted;
    if (typeof scripted !== 'object') return scripted;
    if ('until' in scripted) return this.clock.seconds < scripted.until ? scripted.value : scripted.next;
    return this.clock.seconds >= scripted.from ? scripted.value : undefined;
  }
}

/** The table of one ENI, with its keys below its MAC. */
export function eniTable(mac: string, keys: Record<string, Scripted>): Record<string, Scripted> {
  return Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [`network/interfaces/macs/${mac}/${key}`, value]),
  );
}
