import { eniDrift } from '../eni/drift.js';
import { eniIdentity } from '../steps/move-eni.js';
import { stepOf } from './plan.js';
import type { AttachmentRecord } from '../store/record.js';
import { type Host, openContext } from './host.js';

/** What in the kernel differs from the plan of a READY task, a sentence each. */
export async function driftOf(host: Host, record: AttachmentRecord): Promise<string[]> {
  if (record.state !== 'READY') return [];
  const context = openContext(host, record.hash, null, AbortSignal.abort());
  try {
    const namespace = context.namespace();
    const port = stepOf(record.plan, 'connect-bridge');
    const ofPort = port === undefined ? [] : await host.bridge.drift(port, namespace);
    const session = context.netlink();
    const moved = stepOf(record.plan, 'move-eni');
    const configured = stepOf(record.plan, 'configure-eni');
    if (session === undefined) return ['the sandbox is gone', ...ofPort];
    if (moved === undefined || configured === undefined) return ofPort;
    return [...(await eniDrift(session, eniIdentity(record, moved), configured, moved.former.flags)), ...ofPort];
  } finally {
    context.release();
  }
}
