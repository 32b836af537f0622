import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeOnExecFrom } from './libc.js';
import type { Namespace } from './namespaces.js';

export interface ChildOptions extends Pick<SpawnOptions, 'stdio' | 'cwd' | 'detached'> {
  /** The network namespace in which the child is born; absent: the service's own. */
  readonly namespace?: Namespace | undefined;
  /** All of the child's environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The only place where the service makes a child. The child inherits what `stdio` names and not one descriptor more:
 * libraries open some without O_CLOEXEC. Holds the main thread for some 8 ms, so call it through `blocking`.
 * What cannot be started is told by the child's `error` event, as by node:child_process.
 */
export function spawnChild(command: string, args: readonly string[], options: ChildOptions): ChildProcess {
  const { namespace, ...rest } = options;
  const start = (): ChildProcess => {
    closeOnExecFrom(3);
    return spawn(command, [...args], rest);
  };
  return namespace === undefined ? start() : namespace.visit(start);
}
