import { TaskEniError } from '../errors.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import type { Handler } from './run-plan.js';
import type { TaskContext } from './task-context.js';

/** Makes the sandbox, or goes on with the caller's, which was opened when the request came. */
export function prepareSandboxStep(sandboxes: Sandboxes): Handler<'prepare-sandbox', TaskContext> {
  return {
    async do({ sandbox: plan }, context) {
      if (!plan.owned) {
        if (context.namespace() === undefined) throw new TaskEniError('unusable-sandbox', 'the sandbox has ended');
        return;
      }
      const { record, namespace } = await sandboxes.create(plan, context.record.taskId);
      context.hold(namespace);
      // Before anything is put into it: a service that crashes then must find the ENI in there.
      await context.keep({ sandbox: record });
    },
    async undo({ sandbox: plan }, context) {
      // A descriptor of ours would keep the namespace, and a veth in it, alive.
      context.release();
      const { taskId, sandbox } = context.record;
      await sandboxes.remove(plan, taskId, sandbox?.containerId);
    },
  };
}
