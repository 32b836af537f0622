import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { blocking } from '../kernel/blocking-queue.js';
import type { Namespace } from '../kernel/namespaces.js';
import { spawnChild } from '../kernel/spawn.js';
import { openAuditFile } from './audit-file.js';

/** Small heap: few objects live longer than a request, and a bigger young generation only holds more garbage. */
const nodeFlags = ['--max-semi-space-size=8', '--max-old-space-size=96'];
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  UV_THREADPOOL_SIZE: '1',
  // Threads of io_uring would stay root's.
  UV_USE_IO_URING: '0',
};
const besideThis = new URL('./server/main.js', import.meta.url);

export interface Birth {
  readonly namespace: () => Namespace;
  /** Gives the descriptor of the socket that listens, in the moment in which the process is born: it may be another by then. */
  readonly listener: () => number;
  readonly auditLog: string | null;
  /** The compiled server/main.js, for whoever does not run from the compiled tree. */
  readonly entry: string | undefined;
}

/** Starts the server as root in the namespace; it drops itself. Its descriptors are those of `server/messages.ts`. */
export async function spawnServer({ namespace, listener, auditLog, entry }: Birth): Promise<ChildProcess> {
  const audit = auditLog === null ? null : openAuditFile(auditLog);
  // no_new_privs must hold for every thread, so it is set before there are any.
  const command = ['--no-new-privs', process.execPath, ...nodeFlags, entry ?? fileURLToPath(besideThis)];
  try {
    return await blocking(() => {
      const pipes = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] as const;
      const stdio = [...pipes, listener(), ...(audit === null ? [] : [audit])];
      return spawnChild('setpriv', command, { namespace: namespace(), env: environment, cwd: '/', stdio });
    });
  } finally {
    if (audit !== null) closeSync(audit);
  }
}
