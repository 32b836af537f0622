/** The server's side of its creator's remote control, over Node's ipc channel. The channel's end is the server's end. */

export type Handlers = Record<string, (...args: never[]) => unknown>;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: unknown[];
}

/** Answers the creator's calls from now on, and tells him that the server is ready. */
export function obey(handlers: Handlers): void {
  const send = process.send?.bind(process);
  if (send === undefined) throw new Error('this server is started by the lab, with an ipc channel');
  process.on('message', (call: Call) => {
    perform(handlers, call).then(
      (result) => send({ id: call.id, result }),
      (error: unknown) => send({ id: call.id, error: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  send({ ready: true });
}

async function perform(handlers: Handlers, call: Call): Promise<unknown> {
  const handler = handlers[call.method] as ((...args: unknown[]) => unknown) | undefined;
  if (handler === undefined) throw new Error(`no such call: ${call.method}`);
  return handler(...call.args);
}
