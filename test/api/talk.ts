import { type RequestOptions, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** One request over whatever socket the options name. */
export async function talk(options: RequestOptions & { tls?: object; send?: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { tls, send, ...rest } = options;
    const outgoing =
      tls === undefined ? request({ agent: false, ...rest }) : tlsRequest({ agent: false, ...rest, ...tls });
    outgoing.on('error', reject).on('response', (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    outgoing.end(send);
  });
}

/** Sends bytes as they are and gives all that comes back. */
export async function talkRaw(port: number, bytes: string): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}
