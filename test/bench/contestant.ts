import type { Eni } from '../lab/eni.js';

/** One way to connect a task; each run attaches an ENI and detaches it again. */
export interface Contestant {
  readonly name: string;
  readonly eni: Eni;
  attach(): Promise<Timing>;
  detach(): Promise<Timing>;
}

export interface Timing {
  /** Milliseconds, as whoever asks for it sees them. */
  readonly total: number;
  /** Milliseconds by step, where the contestant tells. */
  readonly steps: Readonly<Record<string, number>>;
}
