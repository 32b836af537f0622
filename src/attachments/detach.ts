import { TaskEniError, describeError } from '../errors.js';
import type { UndoFailure } from '../steps/run-plan.js';
import type { AttachmentRecord } from '../store/record.js';
import { isLive } from './conflicts.js';
import type { Host } from './host.js';
import { endedRecord } from './task-records.js';
import { undo, undoAll } from './undo.js';

/** A DELETE: everything undone, the record gone. Its answer is the network as it was, with where the ENI is now. */
export async function detach(host: Host, hash: string): Promise<AttachmentRecord> {
  const started = performance.now();
  const before = host.records.of(hash);
  // A FAILED or LOST task was undone when it ended; its ENI may be another's by now.
  if (!isLive(before) && before.undoPending.length === 0) return forget(host, before);
  await host.records.commit({ ...before, state: 'DETACHING' }).catch((error: unknown) => {
    // A full disk must not keep a task on the host; that the detach began is only for a start after a crash to know.
    host.logger.error({ taskId: before.taskId, reason: describeError(error) }, 'the detach could not be noted');
  });
  const failures = await undoAll(host, hash);
  const seconds = (performance.now() - started) / 1000;
  if (failures.length > 0) {
    host.metrics.detachEnded(false, seconds);
    host.records.patch(hash, { undoPending: failures.map(({ kind }) => kind) });
    throw notUndone(failures).at({ taskId: before.taskId });
  }
  const detached = await forget(host, host.records.of(hash));
  host.metrics.detachEnded(true, seconds);
  host.logger.info({ taskId: before.taskId, hostInterface: detached.eni?.hostInterface }, 'detached');
  return detached;
}

/** Of an engine that is away the caller is told what it is told elsewhere, and when to come again. */
function notUndone(failures: readonly UndoFailure[]): TaskEniError {
  const [first] = failures;
  const isAway = ({ error }: UndoFailure) => error instanceof TaskEniError && error.code === 'docker-unavailable';
  const code = failures.every(isAway) ? 'docker-unavailable' : 'step-failed';
  const steps = failures.map(({ kind }) => kind).join(', ');
  const reason = first === undefined ? '' : ` (${describeError(first.error)})`;
  const detail = `${steps} could not be undone${reason}; it is tried again, and so may this call be`;
  return new TaskEniError(code, detail, { step: first?.kind, cause: first?.error });
}

async function forget(host: Host, record: AttachmentRecord): Promise<AttachmentRecord> {
  const detached: AttachmentRecord = { ...record, state: 'DETACHED', endedAt: Date.now() };
  await host.records.drop(detached);
  host.orphans.settle(record.hash);
  return detached;
}

/** The task's sandbox went away by itself: all is released, and the record says LOST. */
export async function release(host: Host, hash: string, reason: string): Promise<AttachmentRecord> {
  const before = host.records.of(hash);
  host.logger.warn({ taskId: before.taskId, reason }, 'the sandbox is gone; its network is released');
  const undoPending = await undo(host, hash);
  const error = { code: 'unusable-sandbox', detail: reason, step: null } as const;
  const lost = endedRecord(host.records.of(hash), 'LOST', error, undoPending);
  await host.records.commit(lost);
  return lost;
}

/** An attach that a crash of the service cut short. */
export async function undoInterrupted(host: Host, hash: string): Promise<AttachmentRecord> {
  const undoPending = await undo(host, hash);
  const detail = 'the service ended during the attach; what it had done is undone';
  const error = { code: 'shutting-down', detail, step: null } as const;
  const failed = endedRecord(host.records.of(hash), 'FAILED', error, undoPending);
  await host.records.commit(failed);
  host.logger.warn({ taskId: failed.taskId }, detail);
  return failed;
}

/** Tries once more what could not be undone of a FAILED or LOST task. */
export async function retryUndo(host: Host, hash: string): Promise<AttachmentRecord> {
  const undoPending = await undo(host, hash);
  return host.records.patch(hash, { undoPending });
}
