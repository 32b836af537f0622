import { connect } from 'node:net';

const patience = 2000;

/**
 * Fetches over the address that containers use, and resolves to whether an answer came. The answer of a path that
 * is not served is enough: it has crossed the kernel, the socket and the request handler.
 */
export function probe(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: patience });
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
    socket.once('data', (bytes) => settle(bytes.toString('latin1').startsWith('HTTP/1.1 404')));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
