import type { Namespace } from '../kernel/namespaces.js';
import type { SandboxRecord } from '../store/record.js';

/** A sandbox as it was found or made, with its namespace opened once; whoever asked for it closes that. */
export interface Sandbox {
  readonly record: SandboxRecord;
  readonly namespace: Namespace;
}

export function sandboxOf(namespace: Namespace, what: Omit<SandboxRecord, 'netns' | 'cookie'>): Sandbox {
  try {
    return { record: { ...what, netns: namespace.path, cookie: String(namespace.cookie) }, namespace };
  } catch (error) {
    namespace.close();
    throw error;
  }
}
