import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface SocketAnswer {
  readonly status: number;
  readonly body: unknown;
}

const patienceMs = 10_000;

/** One GET over the service's unix socket. Rejects with an errno when nobody listens there. */
export function getOverSocket(socketPath: string, path: string): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, agent: false, timeout: patienceMs }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body: parse(body) }), reject);
    });
    call.on('timeout', () => call.destroy(new Error(`no answer within ${patienceMs / 1000} s`)));
    call.on('error', reject).end();
  });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new Error('the answer is not JSON: something else than task-eni listens there', { cause: error });
  }
}
