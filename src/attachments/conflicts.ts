import { isDeepStrictEqual } from 'node:util';
import { TaskEniError } from '../errors.js';
import type { AttachmentRecord, StoredRequest } from '../store/record.js';
import { credentialsIdentity, stepOf } from './plan.js';
import type { AttachRequest, SandboxRequest } from './request.js';

/** The request without its secrets: what is stored, and what two requests are compared by. */
export function storedRequest(request: AttachRequest): StoredRequest {
  return { ...request, credentials: credentialsIdentity(request.credentials) };
}

export function isSameRequest(record: AttachmentRecord, request: AttachRequest): boolean {
  return isDeepStrictEqual(record.request, storedRequest(request));
}

/** A record that holds something on the host, or is about to. FAILED and LOST ones are only kept for reading. */
export function isLive(record: AttachmentRecord): boolean {
  return record.state !== 'FAILED' && record.state !== 'LOST' && record.state !== 'DETACHED';
}

/** Whether anything of the task may still be on the host: what it has is nobody else's until then. */
export function holds(record: AttachmentRecord): boolean {
  return isLive(record) || record.undoPending.length > 0;
}

/** The pause container that a DELETE of the task takes away, by its id or name; undefined when there is none. */
export function ownContainer(record: AttachmentRecord): string | undefined {
  if (!holds(record)) return undefined;
  const { sandbox } = record;
  if (sandbox !== null) return sandbox.owned && sandbox.containerId !== null ? sandbox.containerId : undefined;
  const planned = stepOf(record.plan, 'prepare-sandbox')?.sandbox;
  return planned?.kind === 'docker' && planned.owned ? planned.name : undefined;
}

/** Refuses an ENI that another task has or waits for. `others`: those that {@link holds} is true of. */
export function refuseEniInUse(
  others: readonly AttachmentRecord[],
  eni: { id: string | null; mac: string | null },
): void {
  const holder = others.find(
    (other) =>
      (eni.mac !== null && (other.eni?.mac ?? other.request.eni.mac) === eni.mac) ||
      (eni.id !== null && (other.eni?.id ?? other.request.eni.id) === eni.id),
  );
  if (holder !== undefined)
    throw new TaskEniError('eni-in-use', `${eni.mac ?? eni.id} serves the task ${holder.taskId}`);
}

/** Refuses a namespace that another task has, by whatever path it was named. */
export function refuseSandboxInUse(others: readonly AttachmentRecord[], cookie: string): void {
  const holder = others.find((other) => other.sandbox?.cookie === cookie);
  if (holder !== undefined)
    throw new TaskEniError('sandbox-in-use', `the namespace is that of the task ${holder.taskId}`);
}

/** Two requests for one sandbox that name it alike; the namespace itself is compared once it is open. */
export function refuseSameSandbox(others: readonly AttachmentRecord[], sandbox: SandboxRequest | null): void {
  if (sandbox === null) return;
  const holder = others.find((other) => isDeepStrictEqual(other.request.sandbox, sandbox));
  if (holder !== undefined) throw new TaskEniError('sandbox-in-use', `the sandbox serves the task ${holder.taskId}`);
}
