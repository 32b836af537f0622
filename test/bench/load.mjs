// A client that costs less than the server it measures: raw sockets, one request under way on each.
// { host, port, path, connections, seconds, perSecond? } -> one JSON line; without perSecond as fast as it goes.
import net from 'node:net';

const { host, port, path, connections, seconds, perSecond } = JSON.parse(process.argv[2]);
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench\r\n\r\n`);
const latencies = [];
const codes = {};
const idle = [];
/** When each request that found no idle connection was due. */
const waiting = [];
let ended = false;

/** Sends a request that was due at `due`; its latency counts from then. */
function send(connection, due) {
  connection.due = due;
  connection.socket.write(request);
}

function done(connection, code) {
  codes[code] = (codes[code] ?? 0) + 1;
  latencies.push(performance.now() - connection.due);
  if (perSecond === undefined) {
    if (!ended) send(connection, performance.now());
  } else if (waiting.length > 0) send(connection, waiting.shift());
  else idle.push(connection);
}

function open() {
  const connection = { socket: net.connect({ host, port, noDelay: true }), due: 0 };
  let text = '';
  connection.socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
    const head = text.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (text.length < head + 4 + length) return;
    const code = text.slice(9, 12);
    text = '';
    done(connection, code);
  });
  connection.socket.on('error', (error) => (codes[error.code] = (codes[error.code] ?? 0) + 1));
  return new Promise((resolve) => connection.socket.once('connect', () => resolve(connection)));
}

const all = await Promise.all(Array.from({ length: connections }, open));
const begun = performance.now();
if (perSecond === undefined) for (const connection of all) send(connection, begun);
else {
  idle.push(...all);
  for (let sent = 0; sent < perSecond * seconds;) {
    for (; begun + (sent * 1000) / perSecond <= performance.now() && sent < perSecond * seconds; sent++) {
      const due = begun + (sent * 1000) / perSecond;
      const connection = idle.pop();
      if (connection === undefined) waiting.push(due);
      else send(connection, due);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + seconds * 1000 - performance.now())));
ended = true;
const elapsed = (performance.now() - begun) / 1000;
await new Promise((resolve) => setTimeout(resolve, 200));
latencies.sort((a, b) => a - b);
const quantile = (q) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))];
const result = { codes, perSecond: latencies.length / elapsed, p50: quantile(0.5), p99: quantile(0.99) };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
