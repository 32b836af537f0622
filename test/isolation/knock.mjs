// Knocks at addresses all at once and prints what became of each, as one line of JSON:
// `open`, `HTTP <status> <body>` when a path was asked for, an errno, or `silent`.
import { connect } from 'node:net';

/** Milliseconds; a local answer takes far less than one, and a busy machine gets its time. */
const patience = 1500;

function knock({ address, port, path, from }) {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: address, port, ...(from === undefined ? {} : { localAddress: from }) });
    socket.setTimeout(patience, () => resolve(end('silent')));
    const end = (outcome) => {
      socket.destroy();
      return outcome;
    };
    socket.on('error', (error) => resolve(end(error.code)));
    socket.on('connect', () => {
      if (path === undefined) resolve(end('open'));
      else socket.write(`GET ${path} HTTP/1.1\r\nHost: ${address}\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (chunk) => (text += chunk));
    socket.on('close', () => {
      const [head, body] = text.split('\r\n\r\n');
      resolve(`HTTP ${head?.split(' ')[1]} ${body}`);
    });
  });
}

const doors = JSON.parse(process.argv[2]);
process.stdout.write(JSON.stringify(await Promise.all(doors.map(knock))));
