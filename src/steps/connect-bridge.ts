import type { BridgeNamespace } from '../bridge/bridge-namespace.js';
import type { Handler } from './run-plan.js';
import type { TaskContext } from './task-context.js';

/** The veth pair between the bridge's namespace and the task's, and all that keeps tasks apart on the bridge. */
export function connectBridgeStep(bridge: BridgeNamespace): Handler<'connect-bridge', TaskContext> {
  return {
    async do({ kind: _, ...plan }, context) {
      await bridge.connect({ ...plan, taskNamespace: context.openNamespace() });
    },
    async undo({ kind: _, ...plan }) {
      await bridge.disconnect(plan);
    },
  };
}
