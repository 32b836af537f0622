// A load generator for one task: fetches a URL as told and prints what came back as one JSON line.
import http from 'node:http';

const {
  url,
  count = 1,
  parallel = 1,
  /** Starts so many a second, whatever becomes of those before; instead of count and parallel. */
  perSecond,
  seconds,
  headers = {},
  method = 'GET',
  keepAlive = false,
} = JSON.parse(process.argv[2]);
const agent = new http.Agent({ keepAlive, maxSockets: Infinity });
const codes = {};
const latencies = [];
const retryAfters = new Set();
let body = '';

function fetchOnce() {
  const begun = performance.now();
  return new Promise((resolve) => {
    const note = (code) => {
      codes[code] = (codes[code] ?? 0) + 1;
      latencies.push(performance.now() - begun);
      resolve();
    };
    const request = http.request(url, { agent, headers, method, timeout: 10_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => {
        body = text;
        if (response.headers['retry-after']) retryAfters.add(response.headers['retry-after']);
        note(response.statusCode);
      });
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', (error) => note(error.code ?? error.message));
    request.end();
  });
}

async function closedLoop() {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await fetchOnce();
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

async function openLoop() {
  const begun = performance.now();
  const running = [];
  for (let started = 0; started < perSecond * seconds;) {
    const due = Math.min(perSecond * seconds, ((performance.now() - begun) / 1000) * perSecond);
    for (; started < due; started++) running.push(fetchOnce());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(running);
}

const begun = performance.now();
await (perSecond ? openLoop() : closedLoop());
const elapsed = (performance.now() - begun) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (q) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))];
process.stdout.write(
  JSON.stringify({
    codes,
    body,
    retryAfters: [...retryAfters],
    perSecond: latencies.length / elapsed,
    p50: quantile(0.5),
    p99: quantile(0.99),
  }) + '\n',
  () => process.exit(0),
);
