import { describeError } from '../errors.js';
import type { Namespace } from '../kernel/namespaces.js';
import { type StepEvent, type UndoFailure, undoPlan } from '../steps/run-plan.js';
import type { Step, StepKind } from '../steps/step.js';
import type { AttachmentRecord } from '../store/record.js';
import { type Host, openContext } from './host.js';
import { withEvent } from './record-changes.js';

/**
 * Takes back all that the task's plan did, backwards, and returns what failed: traces of that are still there. They keep the
 * task's address reserved, and they alone are tried again later: what is undone, the ENI at home first of all, may be
 * somebody else's by then.
 */
export async function undoAll(host: Host, hash: string): Promise<UndoFailure[]> {
  const record = host.records.of(hash);
  if (record.plan.length === 0) return [];
  const context = openContext(host, hash, null, AbortSignal.abort());
  try {
    const namespace = await findNamespace(host, record);
    if (namespace !== undefined) context.hold(namespace);
    const report = (event: StepEvent) => {
      host.records.patch(hash, { outcomes: withEvent(host.records.of(hash).outcomes, event) });
      if (event.state === 'undone' || event.state === 'failed')
        host.metrics.stepEnded(event.kind, event.state, event.durationMs / 1000);
    };
    // The address stays the task's for as long as anything of it is on the host, or another task would meet what is left.
    const isHeld = ({ kind }: Step) => kind === 'reserve-address';
    const others = record.plan.filter((step) => !isHeld(step) && isToUndo(record, step));
    const failures = await undoPlan(others, host.handlers, context, report);
    if (failures.length === 0) await undoPlan(record.plan.filter(isHeld), host.handlers, context, report);
    note(host, record, failures);
    // An attach that took up an orphan has undone that as well.
    if (failures.length === 0) host.orphans.settle(hash);
    return failures;
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

/** {@link undoAll} for those who only note the steps that are to be tried again. */
export async function undo(host: Host, hash: string): Promise<StepKind[]> {
  return (await undoAll(host, hash)).map(({ kind }) => kind);
}

function isToUndo({ undoPending }: AttachmentRecord, { kind }: Step): boolean {
  return undoPending.length === 0 || undoPending.includes(kind);
}

/** Containers that live on keep the namespace of a sandbox that ended, and the ENI in it. */
async function findNamespace(
  host: Host,
  { sandbox, bootId, taskId }: AttachmentRecord,
): Promise<Namespace | undefined> {
  if (sandbox === null || bootId !== host.bootId) return undefined;
  try {
    return await host.sandboxes.search(sandbox);
  } catch (error) {
    // What has to be undone inside fails with a reason of its own; all else can be undone.
    host.logger.error({ taskId, reason: describeError(error) }, "the task's namespace could not be looked for");
    return undefined;
  }
}
