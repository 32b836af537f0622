import { channel } from 'node:diagnostics_channel';
import { KernelError } from '../kernel/errno.js';
import { TaskEniError, describeError } from '../errors.js';
import type { Step, StepKind, StepState } from './step.js';

/**
 * What a kind of step does to the host, and how that is taken back.
 * - `do` may be called again after it succeeded, or after it half happened: it looks before it creates.
 * - `undo` may be called whatever became of `do`, twice, and when everything is gone; it removes only what proves to be ours.
 */
export interface Handler<K extends StepKind, C> {
  do(step: Step<K>, context: C): Promise<void>;
  undo(step: Step<K>, context: C): Promise<void>;
}

export type Handlers<C> = { readonly [K in StepKind]: Handler<K, C> };

export interface StepEvent {
  readonly kind: StepKind;
  readonly state: StepState;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface UndoFailure {
  readonly kind: StepKind;
  readonly error: unknown;
}

/** Published before and after each step, for whoever traces the service from outside (node:diagnostics_channel). */
const stepChannel = channel('task-eni:step');

type Report = (event: StepEvent) => void;

function handlerOf<C>(handlers: Handlers<C>, step: Step): Handler<StepKind, C> {
  return handlers[step.kind];
}

async function timed(step: Step, act: () => Promise<void>, outcome: StepState, report: Report): Promise<void> {
  const startedAt = Date.now();
  const start = performance.now();
  const elapsed = () => Math.round((performance.now() - start) * 100) / 100;
  if (outcome === 'done') report({ kind: step.kind, state: 'running', startedAt, durationMs: 0 });
  stepChannel.publish({ kind: step.kind, outcome, moment: 'before' });
  try {
    await act();
  } catch (error) {
    report({ kind: step.kind, state: 'failed', startedAt, durationMs: elapsed() });
    throw error;
  }
  stepChannel.publish({ kind: step.kind, outcome, moment: 'after' });
  report({ kind: step.kind, state: outcome, startedAt, durationMs: elapsed() });
}

/** Runs the plan in order. Throws the first error, with its step named; nothing is undone here. */
export async function runPlan<C>(
  plan: readonly Step[],
  handlers: Handlers<C>,
  context: C,
  { report, proceed }: { report: Report; proceed: () => void },
): Promise<void> {
  for (const step of plan) {
    proceed();
    try {
      await timed(step, () => handlerOf(handlers, step).do(step, context), 'done', report);
    } catch (error) {
      throw asTaskError(error, step.kind);
    }
  }
  proceed();
}

/** Undoes the plan backwards and never stops: what could not be undone is returned. */
export async function undoPlan<C>(
  plan: readonly Step[],
  handlers: Handlers<C>,
  context: C,
  report: Report,
): Promise<UndoFailure[]> {
  const failures: UndoFailure[] = [];
  for (const step of plan.toReversed()) {
    try {
      await timed(step, () => handlerOf(handlers, step).undo(step, context), 'undone', report);
    } catch (error) {
      failures.push({ kind: step.kind, error });
    }
  }
  return failures;
}

export function asTaskError(error: unknown, step?: StepKind): TaskEniError {
  const where = step === undefined ? {} : { step };
  if (error instanceof TaskEniError) return error.at(where);
  const detail = error instanceof KernelError ? `${error.operation}: ${error.errno}` : describeError(error);
  return new TaskEniError('step-failed', detail, { ...where, cause: error });
}
