import type { DhcpClients } from '../dhcp/dhcp-clients.js';
import type { Handler } from './run-plan.js';
import type { TaskContext } from './task-context.js';

/** Clients that keep the ENI's leases renewed. They start by themselves; nobody waits for a lease. */
export function startDhcpStep(dhcp: DhcpClients): Handler<'start-dhcp', TaskContext> {
  return {
    async do({ kind: _, ...families }, context) {
      const { hash, record } = context;
      dhcp.start({ hash, taskId: record.taskId, namespace: context.openNamespace(), ...families });
    },
    async undo(_step, { hash }) {
      await dhcp.stop(hash);
    },
  };
}
