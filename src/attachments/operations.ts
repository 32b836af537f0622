import type { AttachmentRecord } from '../store/record.js';

export interface Operation {
  readonly kind: 'attach' | 'detach' | 'undo' | 'credentials';
  readonly settled: Promise<AttachmentRecord>;
  /** Cuts the operation short with the reason that its callers then get. */
  readonly abort: (reason: Error) => void;
}

/**
 * The tasks' locks.
 * - A task has at most one operation at a time; whoever comes meanwhile joins it, waits for it, or is refused.
 * - An operation is over before its promise settles, so a caller that awaited one finds the lock free.
 * - An operation runs to its end whether or not anybody still listens.
 */
export class Operations {
  private readonly running = new Map<string, Operation>();

  get(hash: string): Operation | undefined {
    return this.running.get(hash);
  }

  all(): Operation[] {
    return [...this.running.values()];
  }

  run(hash: string, kind: Operation['kind'], act: (signal: AbortSignal) => Promise<AttachmentRecord>): Operation {
    if (this.running.has(hash)) throw new Error(`the task ${hash} has an operation under way`);
    const controller = new AbortController();
    const settled = act(controller.signal).finally(() => this.running.delete(hash));
    // Callers that hung up leave nobody to hear of a failure; it is in the record.
    settled.catch(() => undefined);
    const operation: Operation = { kind, settled, abort: (reason) => controller.abort(reason) };
    this.running.set(hash, operation);
    return operation;
  }

  /** Resolves when nothing is under way any more, or after `milliseconds`; true when all ended. */
  async drain(milliseconds: number): Promise<boolean> {
    const ended = Promise.allSettled(this.all().map(({ settled }) => settled)).then(() => true);
    const bound = new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, false).unref());
    return Promise.race([ended, bound]);
  }
}
