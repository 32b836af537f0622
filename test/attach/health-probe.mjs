/**
 * Asks a service for /healthz again and again, from a process of its own, so that nothing else delays the asking. Ends with
 * its standard input; then writes, as JSON, how often it asked and the longest answers.
 * Usage: node health-probe.mjs <socket> <pid of the service>
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [socketPath, servicePid] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Milliseconds that the main threads of both sides could have run but had no CPU (proc(5) and sched-stats.rst: second field). */
function waitedForCpu() {
  const delays = [servicePid, process.pid].map((pid) => {
    const [, delay] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(delay) / 1e6;
  });
  return delays[0] + delays[1];
}

function ask() {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path: '/healthz', agent, headers: { Host: 'localhost' } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    outgoing.once('error', reject).end();
  });
}

process.stdin.resume();

const answers = [];
let refused = 0;
while (!process.stdin.readableEnded) {
  const waited = waitedForCpu();
  const start = performance.now();
  if ((await ask()) !== 200) refused += 1;
  const milliseconds = performance.now() - start;
  answers.push({ milliseconds, withoutWaiting: milliseconds - (waitedForCpu() - waited) });
  await sleep(5);
}
const longest = (key) => Math.max(0, ...answers.map((answer) => answer[key]));
const report = {
  asked: answers.length,
  refused,
  longest: longest('milliseconds'),
  longestOwn: longest('withoutWaiting'),
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
