import { describeError } from '../errors.js';
import { type StepEvent, type UndoFailure, undoPlan } from '../steps/run-plan.js';
import type { Step, StepKind } from '../steps/step.js';
import { type Host, openContext } from './host.js';
import type { AttachmentRecord } from '../store/record.js';
import { withEvent } from './record-changes.js';

/**
 * Takes back all that the task's plan did, backwards, and returns the steps whose traces are still there. Those keep the
 * task's address reserved, and are tried again later.
 */
export async function undo(host: Host, hash: string): Promise<StepKind[]> {
  const record = host.records.of(hash);
  if (record.plan.length === 0) return [];
  const context = openContext(host, hash, null, AbortSignal.abort());
  try {
    const report = (event: StepEvent) => {
      host.records.patch(hash, { outcomes: withEvent(host.records.of(hash).outcomes, event) });
      if (event.state === 'undone' || event.state === 'failed')
        host.metrics.stepEnded(event.kind, event.state, event.durationMs / 1000);
    };
    // The address stays the task's for as long as anything of it is on the host, or another task would meet what is left.
    const isHeld = ({ kind }: Step) => kind === 'reserve-address';
    const others = record.plan.filter((step) => !isHeld(step));
    const failures = await undoPlan(others, host.handlers, context, report);
    if (failures.length === 0) await undoPlan(record.plan.filter(isHeld), host.handlers, context, report);
    note(host, record, failures);
    // An attach that took up an orphan has undone that as well.
    if (failures.length === 0) host.orphans.settle(hash);
    return failures.map(({ kind }) => kind);
  } finally {
    context.release();
  }
}

/** What is tried again and again says the same again and again: only what is new of it is an error in the log. */
function note({ retries, metrics, logger }: Host, { hash, taskId }: AttachmentRecord, failures: UndoFailure[]): void {
  if (failures.length === 0) return retries.succeeded(hash);
  const isNew = retries.failed(hash, failures.map(({ kind, error }) => `${kind}: ${describeError(error)}`).join('\n'));
  for (const { kind, error } of failures) {
    metrics.undoFailed(kind);
    const said = { taskId, step: kind, reason: describeError(error), err: error };
    logger[isNew ? 'error' : 'debug'](said, 'a step could not be undone');
  }
}
