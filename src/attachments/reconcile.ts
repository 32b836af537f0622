import type { AttachmentRecord } from '../store/record.js';
import { holds, isLive } from './conflicts.js';

/** What the host shows of the tasks when the service looks at it. */
export interface Observed {
  readonly bootId: string;
  /** Null while instance metadata does not answer: then no record is judged by it. */
  readonly instanceId: string | null;
  /** Whether the namespace that the record names still is the one it was made with. */
  readonly sandboxAlive: (record: AttachmentRecord) => boolean;
}

export type Decision =
  /** Leave the task's network as it is and serve it. */
  | 'adopt'
  /** An attach was cut short: take back what it did. */
  | 'undo'
  /** A detach was cut short: finish it. */
  | 'finish-detach'
  /** The sandbox is gone: release everything and say LOST. */
  | 'release'
  /** The record came with a disk image of another instance. */
  | 'set-aside'
  /** FAILED or LOST, with steps whose undo failed: try again. */
  | 'retry-undo'
  | 'keep';

/** What to do with one record when the service starts. Pure. */
export function decideAtStart(record: AttachmentRecord, observed: Observed): Decision {
  const { instanceId, bootId } = observed;
  if (instanceId !== null && record.instanceId !== null && record.instanceId !== instanceId) return 'set-aside';
  if (!isLive(record)) return record.undoPending.length > 0 ? 'retry-undo' : 'keep';
  if (record.state === 'DETACHING') return 'finish-detach';
  if (record.state !== 'READY') return 'undo';
  return record.bootId === bootId && observed.sandboxAlive(record) ? 'adopt' : 'release';
}

/** What to do with one record that no operation holds, now and then while the service runs. Pure. */
export function decideWhileRunning(record: AttachmentRecord, sandboxAlive: boolean): Decision {
  if (record.state === 'READY') return sandboxAlive ? 'keep' : 'release';
  if (record.state === 'DETACHING') return 'finish-detach';
  return record.undoPending.length > 0 ? 'retry-undo' : 'keep';
}

/** FAILED and LOST records are kept for an hour, and so many of them: an agent that retries without end must not fill the disk. */
export const keptMilliseconds = 3_600_000;
export const keptRecords = 1000;

/** The ended tasks that are to be forgotten; never one of which something is still on the host. Pure. */
export function outlived(records: readonly AttachmentRecord[], now: number): AttachmentRecord[] {
  const ended = records.filter((record) => !holds(record));
  const newestFirst = ended.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  return newestFirst.filter(
    ({ endedAt }, index) => index >= keptRecords || (endedAt !== null && now - endedAt > keptMilliseconds),
  );
}
