import { type Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Exchange {
  readonly agent: Agent;
  readonly url: string;
  readonly method: 'GET' | 'PUT';
  readonly headers: Record<string, string>;
  /** For the whole exchange, from connecting to the last byte. */
  readonly timeoutMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/**
 * One HTTP request with its answer, by an agent of our own: neither HTTP_PROXY nor NODE_USE_ENV_PROXY, which change
 * only Node's global agent, can lead it elsewhere.
 */
export async function exchange(options: Exchange): Promise<Answer> {
  try {
    return await exchangeOnce(options);
  } catch (error) {
    // The server may close an idle connection in the moment it is used again; nothing was served then.
    if (error instanceof StaleConnectionError) return exchangeOnce(options);
    throw error;
  }
}

class StaleConnectionError extends Error {}

function exchangeOnce({ agent, url, method, headers, timeoutMilliseconds, signal }: Exchange): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent, method, headers, ...(signal && { signal }) });
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${timeoutMilliseconds} ms`));
      request.destroy();
    }, timeoutMilliseconds);
    const fail = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const stale = request.reusedSocket && error.code === 'ECONNRESET';
      reject(stale ? new StaleConnectionError(error.message, { cause: error }) : error);
    };
    request.on('error', fail);
    request.on('response', (response) => {
      text(response).then((body) => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      }, fail);
    });
    request.end();
  });
}
