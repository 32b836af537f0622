import { createHash } from 'node:crypto';

const longest = 64;

/**
 * The name under which CloudTrail shows what the task did: its id in the characters that STS takes, `[\w+=,.@-]{2,64}`
 * (AWS STS API Reference, AssumeRole). An id that is too long keeps its beginning and ends in a part of its hash, so that
 * two of them differ still. Pure.
 */
export function sessionName(taskId: string): string {
  const allowed = taskId.replace(/[^\w+=,.@-]/g, '-');
  if (allowed.length < 2) return `task-${allowed}`;
  if (allowed.length <= longest) return allowed;
  const hash = createHash('sha256').update(taskId).digest('hex').slice(0, 10);
  return `${allowed.slice(0, longest - hash.length - 1)}-${hash}`;
}
