import { stopHostClient } from '../dhcp/host-client.js';
import { clearHostConfig } from '../eni/host-config.js';
import type { HostSide } from './host-side.js';
import type { Handler } from './run-plan.js';
import type { TaskContext } from './task-context.js';

/** Leaves the ENI down and bare on the host; what the host had put on it is not put back. */
export function clearHostConfigStep(host: HostSide): Handler<'clear-host-config', TaskContext> {
  return {
    async do({ mac }, { logger }) {
      const link = await host.findEni(mac);
      // Absent: it is in the task already, as an attach that takes up an orphan finds it.
      if (link === undefined) return;
      // First, or it would set again what is taken away.
      await stopHostClient({ interface: link.name, namespace: host.namespace, log: logger });
      await clearHostConfig(host.session, link.index, logger);
    },
    async undo() {},
  };
}
