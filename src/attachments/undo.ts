import { describeError } from '../errors.js';
import { undoPlan } from '../steps/run-plan.js';
import type { StepKind } from '../steps/step.js';
import { type Host, openContext } from './host.js';
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
    const failures = await undoPlan(record.plan, host.handlers, context, (event) => {
      host.records.patch(hash, { outcomes: withEvent(host.records.of(hash).outcomes, event) });
      if (event.state === 'undone' || event.state === 'failed')
        host.metrics.stepEnded(event.kind, event.state, event.durationMs / 1000);
    });
    for (const { kind, error } of failures) {
      host.metrics.undoFailed(kind);
      const { taskId } = record;
      host.logger.error({ taskId, step: kind, reason: describeError(error), err: error }, 'a step could not be undone');
    }
    return failures.map(({ kind }) => kind);
  } finally {
    context.release();
  }
}
