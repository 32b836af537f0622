import type { PushedCredentials } from '../attachments/request.js';
import { type FieldError, TaskEniError } from '../errors.js';
import type { ServedCredentials } from './server/messages.js';

const texts = ['roleArn', 'accessKeyId', 'secretAccessKey', 'sessionToken'] as const;

/**
 * Pushed credentials as they are served. Throws `invalid-request` when a part is missing: an SDK that is given credentials
 * without their token or expiration fails in ways that do not say so. Expired ones are taken, and answered like any other
 * expired ones: clocks differ. Pure.
 */
export function pushedCredentials(pushed: PushedCredentials, taskId: string): ServedCredentials {
  const fields: FieldError[] = texts
    .filter((name) => typeof pushed[name] !== 'string' || pushed[name] === '')
    .map((name) => ({ path: `credentials.${name}`, message: 'must be a text that is not empty' }));
  if (!isTime(pushed.expiration)) fields.push({ path: 'credentials.expiration', message: 'must be a time' });
  if (fields.length > 0)
    throw new TaskEniError('invalid-request', 'The credentials are incomplete', { taskId, fields });
  const { roleArn, accessKeyId, secretAccessKey, sessionToken, expiration } = pushed;
  return { roleArn, accessKeyId, secretAccessKey, sessionToken, expiration };
}

/** The years that four digits can tell. */
function isTime(milliseconds: unknown): boolean {
  return typeof milliseconds === 'number' && milliseconds >= 0 && milliseconds < Date.UTC(10_000, 0);
}

/** Reads what {@link formatStored} wrote; undefined for anything else. */
export function parseStored(text: string): ServedCredentials | undefined {
  try {
    return pushedCredentials(JSON.parse(text) as PushedCredentials, '');
  } catch (error) {
    if (error instanceof TaskEniError || error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

export function formatStored(credentials: ServedCredentials): string {
  return JSON.stringify(credentials);
}
