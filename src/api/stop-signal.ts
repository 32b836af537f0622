import { Injectable } from '@nestjs/common';
import { TaskEniError } from '../errors.js';

/** Tells every request that waits that the service is stopping. */
@Injectable()
export class StopSignal {
  private readonly listeners = new Set<() => void>();
  private begun = false;

  get stopping(): boolean {
    return this.begun;
  }

  begin(): void {
    if (this.begun) return;
    this.begun = true;
    for (const listener of this.listeners) listener();
  }

  /** Returns what takes the listener away again. */
  onStop(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What `work` gives, or the error shutting-down when the service stops first; the work itself goes on. */
  async waitFor<T>(work: Promise<T>): Promise<T> {
    let forget: (() => void) | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      if (this.begun) reject(shuttingDown());
      forget = this.onStop(() => reject(shuttingDown()));
    });
    try {
      return await Promise.race([stopped, work]);
    } finally {
      forget?.();
    }
  }
}

export function shuttingDown(): TaskEniError {
  return new TaskEniError('shutting-down', 'the service is stopping; the call can be repeated once it runs again');
}
