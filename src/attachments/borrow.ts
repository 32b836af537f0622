import type { Namespace } from '../kernel/namespaces.js';
import { holds, refuseSandboxInUse } from './conflicts.js';
import type { Host } from './host.js';
import type { SandboxRequest } from './request.js';

/**
 * Opens the caller's sandbox and notes it in the task's record. Throws unusable-sandbox, sandbox-in-use or
 * docker-unavailable.
 */
export async function borrow(host: Host, hash: string, request: SandboxRequest): Promise<Namespace> {
  const { record, namespace } = await host.sandboxes.borrow(request);
  try {
    const others = host.records.all().filter((other) => other.hash !== hash && holds(other));
    refuseSandboxInUse(others, record.cookie);
    host.records.patch(hash, { sandbox: record });
    return namespace;
  } catch (error) {
    namespace.close();
    throw error;
  }
}
