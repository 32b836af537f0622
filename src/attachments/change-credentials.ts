import { randomUUID } from 'node:crypto';
import { TaskEniError } from '../errors.js';
import type { AttachmentRecord } from '../store/record.js';
import type { Host } from './host.js';
import { credentialsIdentity } from './plan.js';
import type { CredentialsRequest } from './request.js';

/**
 * Gives a READY task these credentials, under the id that it has or a new one. What of before is served until the new
 * ones are there. Throws credentials-refused or credentials-timeout; then nothing has changed.
 */
export async function putCredentials(
  host: Host,
  record: AttachmentRecord,
  credentials: CredentialsRequest,
): Promise<AttachmentRecord> {
  const { hash, taskId, linkLocal } = record;
  if (linkLocal === null) throw new TaskEniError('busy', 'the task is not READY', { taskId });
  const identity = credentialsIdentity(credentials);
  if (record.credentials !== null) {
    await host.credentials.update(hash, credentials);
    return commit(host, { ...host.records.of(hash), credentials: identity });
  }
  const id = record.credentialsId ?? randomUUID();
  await host.credentials.register({ hash, taskId, id, address: linkLocal.address, credentials });
  return commit(host, withStep({ ...host.records.of(hash), credentials: identity, credentialsId: id }));
}

/** The next fetch is refused; the id stays the task's, for a later PUT. */
export async function deleteCredentials(host: Host, record: AttachmentRecord): Promise<AttachmentRecord> {
  await host.credentials.clear(record.hash);
  return commit(host, { ...host.records.of(record.hash), credentials: null });
}

async function commit(host: Host, record: AttachmentRecord): Promise<AttachmentRecord> {
  await host.records.commit(record);
  return record;
}

/** A task that began without credentials has no step by which a detach would take them away. */
function withStep(record: AttachmentRecord): AttachmentRecord {
  const { plan, linkLocal, credentials, credentialsId } = record;
  if (plan.some(({ kind }) => kind === 'register-credentials')) return record;
  if (linkLocal === null || credentials === null || credentialsId === null) return record;
  const step = { kind: 'register-credentials', id: credentialsId, address: linkLocal.address, credentials } as const;
  return { ...record, plan: [...plan, step] };
}
