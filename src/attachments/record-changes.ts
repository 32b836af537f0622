import type { Ipv6 } from '../addresses/cidr.js';
import type { StepEvent } from '../steps/run-plan.js';
import type { Step, StepOutcome, WaitKind } from '../steps/step.js';
import type { AttachmentRecord } from '../store/record.js';
import { recordVersion } from '../store/record.js';
import { storedRequest } from './conflicts.js';
import type { AttachRequest } from './request.js';
import type { TaskId } from './task-id.js';

export interface NewRecord {
  readonly taskId: TaskId;
  readonly hash: string;
  readonly bootId: string;
  readonly instanceId: string | null;
  readonly region: string | null;
  readonly request: AttachRequest;
  readonly now: number;
}

/** The record of a request that was just accepted: nothing is changed yet. */
export function pendingRecord({ request, now, ...identity }: NewRecord): AttachmentRecord {
  return {
    version: recordVersion,
    ...identity,
    state: 'PENDING',
    request: storedRequest(request),
    eni: null,
    sandbox: null,
    linkLocal: null,
    credentials: null,
    credentialsId: null,
    plan: [],
    outcomes: [pendingOutcome('wait-for-eni'), pendingOutcome('read-metadata')],
    undoPending: [],
    warnings: [],
    error: null,
    createdAt: now,
    readyAt: null,
    endedAt: null,
  };
}

export function pendingOutcome(name: StepOutcome['name']): StepOutcome {
  return { name, state: 'pending', startedAt: null, durationMs: null };
}

/** The outcomes of the waiting that came first, and of a plan that has not begun. */
export function withPlan(outcomes: readonly StepOutcome[], plan: readonly Step[]): StepOutcome[] {
  const waits = outcomes.filter(({ name }) => name === 'wait-for-eni' || name === 'read-metadata');
  return [...waits, ...plan.map(({ kind }) => pendingOutcome(kind))];
}

/** The outcomes after one more thing was heard of a step. A step that failed stays `failed` when it is undone: it shows where. */
export function withEvent(
  outcomes: readonly StepOutcome[],
  event: Omit<StepEvent, 'kind'> & { kind: StepOutcome['name'] },
): StepOutcome[] {
  return outcomes.map((outcome) => {
    if (outcome.name !== event.kind) return outcome;
    if (event.state === 'undone' || (event.state === 'failed' && outcome.state !== 'running'))
      return outcome.state === 'failed' ? outcome : { ...outcome, state: event.state };
    return { name: outcome.name, state: event.state, startedAt: event.startedAt, durationMs: event.durationMs };
  });
}

/** What an advertised gateway changes of the record as it is `now`; undefined when that is not the task any more of which it was `asked`. */
export function withLearnedGateway(
  now: AttachmentRecord | undefined,
  asked: AttachmentRecord,
  ipv6Gateway: Ipv6,
): Pick<AttachmentRecord, 'eni'> | undefined {
  if (now?.state !== 'READY' || now.createdAt !== asked.createdAt || now.eni === null) return undefined;
  return { eni: { ...now.eni, ipv6Gateway } };
}

/** Steps that wait are timed like steps of the plan. */
export async function timedWait<T>(
  name: WaitKind,
  report: (event: Omit<StepEvent, 'kind'> & { kind: WaitKind }) => void,
  wait: () => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  const start = performance.now();
  const elapsed = () => Math.round((performance.now() - start) * 100) / 100;
  report({ kind: name, state: 'running', startedAt, durationMs: 0 });
  try {
    const value = await wait();
    report({ kind: name, state: 'done', startedAt, durationMs: elapsed() });
    return value;
  } catch (error) {
    report({ kind: name, state: 'failed', startedAt, durationMs: elapsed() });
    throw error;
  }
}
