import { Injectable } from '@nestjs/common';
import { TaskEniError } from '../errors.js';

/** Tells every request that waits that the service is stopping. */
@Injectable()
export class StopSignal {
  private readonly controller = new AbortController();

  begin(): void {
    this.controller.abort(shuttingDown());
  }

  get stopping(): boolean {
    return this.controller.signal.aborted;
  }

  onStop(listener: () => void): void {
    this.controller.signal.addEventListener('abort', listener, { once: true });
  }

  /** What `work` gives, or the error shutting-down when the service stops first; the work itself goes on. */
  async waitFor<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.controller;
    signal.throwIfAborted();
    let stop: (() => void) | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = () => reject(signal.reason as TaskEniError);
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
    }
  }
}

export function shuttingDown(): TaskEniError {
  return new TaskEniError('shutting-down', 'the service is stopping; the call can be repeated once it runs again');
}
