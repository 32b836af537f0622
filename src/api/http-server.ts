/** A bare HTTP server with limits that no client can wear down. */
import { type RequestListener, type Server, type ServerOptions, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { TaskEniError } from '../errors.js';
import { problemHeaders, sendProblem, toProblem } from './problem.js';

const limits: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2000,
  keepAliveTimeout: 15_000,
  maxHeaderSize: 16_384,
};
const mostConnections = 1024;

export interface Tls extends SecureContextOptions {
  readonly requestCert: boolean;
}

/** Plain HTTP when `tls` is null. A client certificate, where one is asked for, must be right for the handshake to end. */
export function createHttpServer(listener: RequestListener, tls: Tls | null): Server {
  const server =
    tls === null
      ? createServer(limits, listener)
      : createTlsServer({ ...limits, ...tls, rejectUnauthorized: tls.requestCert, minVersion: 'TLSv1.2' }, listener);
  server.maxConnections = mostConnections;
  // Node would answer 417 without a body; nothing but 100-continue, which it does itself, can be expected here.
  server.on('checkExpectation', (_request, response: ServerResponse) =>
    sendProblem(response, new TaskEniError('invalid-request', 'the header Expect can only be 100-continue')),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerNonsense(error, socket));
  return server;
}

/** What is no HTTP at all never becomes a request, so it is answered on the bare socket. */
function answerNonsense(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = new TaskEniError('invalid-request', nonsense(error.code));
  const body = JSON.stringify(toProblem(problem));
  const headers = { ...problemHeaders(problem.code), 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
}

function nonsense(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'the headers are larger than 16384 bytes';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'the request did not arrive in time';
  return 'this is not an HTTP/1.1 request';
}
