/** A way to the API from outside the lab: it listens on the lab host's 127.0.0.1, where no browser of the machine comes. */
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Lab } from '../lab/lab.js';

const program = fileURLToPath(new URL('./pass-on.mjs', import.meta.url));

export interface BrowserDoor {
  /** On the machine's own 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens on a free port of the machine's 127.0.0.1. A socket stays in the network namespace in which it was made, so it is
 * handed to a process in the lab's host, which connects to the API there; the API's token is asked for as ever.
 */
export async function openBrowserDoor(lab: Lab, apiPort: number): Promise<BrowserDoor> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const child = lab.host.start(process.execPath, [program, String(apiPort)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  child.send('listener', server);
  server.close();
  return { port, close: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
