import type { TaskCredentials } from '../credentials/task-credentials.js';
import { TaskEniError } from '../errors.js';
import type { Handler } from './run-plan.js';
import type { TaskContext } from './task-context.js';

/** The task's credentials, fetched, and its id known to the credentials server for the task's address only. */
export function registerCredentialsStep(credentials: TaskCredentials): Handler<'register-credentials', TaskContext> {
  return {
    async do({ id, address }, context) {
      if (context.credentials === null) throw new TaskEniError('internal', 'the credentials are not at hand');
      const { hash, record } = context;
      await credentials.register({ hash, taskId: record.taskId, id, address, credentials: context.credentials });
    },
    async undo(_step, { hash }) {
      await credentials.unregister(hash);
    },
  };
}
