import type { ChildProcess } from 'node:child_process';

/** Time that a client has to end by itself; dhclient takes some 10 ms. It sends no RELEASE on SIGTERM, and must not: the address stays the ENI's. */
const graceMs = 2_000;
/** As much of the client's messages as is kept to tell why it ended. */
const tailLength = 2_048;

/**
 * Resolves with how the client ended, in words: its last message and its exit code or signal. Aborting ends it (SIGTERM, and
 * SIGKILL when that does not help).
 */
export function clientEnded(child: ChildProcess, signal: AbortSignal): Promise<string> {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailLength);
  });
  return new Promise((resolve) => {
    let kill: NodeJS.Timeout | undefined;
    const terminate = (): void => {
      child.kill('SIGTERM');
      kill ??= setTimeout(() => child.kill('SIGKILL'), graceMs);
    };
    const end = (how: string): void => {
      clearTimeout(kill);
      signal.removeEventListener('abort', terminate);
      resolve(how);
    };
    child.once('error', (error) => {
      if (child.pid === undefined) end(error.message);
    });
    child.once('close', (code, by) => end([lastLine(tail), code === null ? by : `exit code ${code}`].join(', ')));
    signal.addEventListener('abort', terminate);
    if (signal.aborted) terminate();
  });
}

/** dhclient ends with some lines about where to report bugs; what went wrong stands before those. */
function lastLine(messages: string): string {
  const lines = messages.split('\n').filter((line) => line.trim() !== '');
  const boilerplate = lines.findIndex((line) => line.startsWith('If you think you have received this message'));
  return lines.slice(0, boilerplate === -1 ? undefined : boilerplate).at(-1) ?? 'no message';
}
