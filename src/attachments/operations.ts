import type { AttachmentRecord } from '../store/record.js';

interface Held {
  /** Cuts the operation short with the reason that its callers then get. */
  readonly abort: (reason: Error) => void;
}

/** What changes the task's state, or its credentials. */
export interface TaskOperation extends Held {
  readonly kind: 'attach' | 'detach' | 'undo' | 'credentials';
  readonly settled: Promise<AttachmentRecord>;
}

/** What sets right what the host shows of the task, and leaves its record as it is. */
export interface Mend extends Held {
  readonly kind: 'mend';
  readonly settled: Promise<void>;
}

export type Operation = TaskOperation | Mend;

/**
 * The tasks' locks.
 * - A task has at most one operation at a time; whoever comes meanwhile joins it, waits for it, or is refused.
 * - An operation is over before its promise settles, so a caller that awaited one finds the lock free.
 * - An operation runs to its end whether or not anybody still listens.
 * - Once they are closed none is begun.
 */
export class Operations {
  private readonly running = new Map<string, Operation>();
  private closed: Error | undefined;

  get(hash: string): Operation | undefined {
    return this.running.get(hash);
  }

  all(): Operation[] {
    return [...this.running.values()];
  }

  run(
    hash: string,
    kind: TaskOperation['kind'],
    act: (signal: AbortSignal) => Promise<AttachmentRecord>,
  ): TaskOperation {
    return this.hold(hash, act, (settled, abort) => ({ kind, settled, abort }));
  }

  mend(hash: string, act: () => Promise<void>): Mend {
    return this.hold(hash, act, (settled, abort) => ({ kind: 'mend', settled, abort }));
  }

  /** From now on whoever would begin one gets the reason. Those under way go on. */
  close(reason: Error): void {
    this.closed ??= reason;
  }

  /** Resolves when nothing is under way any more, or after `milliseconds`; true when all ended. */
  async drain(milliseconds: number): Promise<boolean> {
    const ended = Promise.allSettled(this.all().map(({ settled }) => settled)).then(() => true);
    const bound = new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, false).unref());
    return Promise.race([ended, bound]);
  }

  private hold<T, O extends Operation>(
    hash: string,
    act: (signal: AbortSignal) => Promise<T>,
    describe: (settled: Promise<T>, abort: Held['abort']) => O,
  ): O {
    if (this.closed !== undefined) throw this.closed;
    if (this.running.has(hash)) throw new Error(`the task ${hash} has an operation under way`);
    const controller = new AbortController();
    const settled = act(controller.signal).finally(() => this.running.delete(hash));
    // Callers that hung up leave nobody to hear of a failure; it is in the record.
    settled.catch(() => undefined);
    const operation = describe(settled, (reason) => controller.abort(reason));
    this.running.set(hash, operation);
    return operation;
  }
}
