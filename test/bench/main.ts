/** Measures attach, detach, credentials and the looks at many tasks; prints tables and writes JSON. Passes no judgement. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAttach } from './attach.js';
import { benchCredentials } from './credentials.js';
import { measureLooks } from './looks.js';
import { printAttach, printCredentials, printLooks } from './report.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    tasks: { type: 'string', default: '1000' },
    json: { type: 'string' },
  },
});
const runs = Number(values.runs);
const tasks = Number(values.tasks);
if (!(tasks >= 1 && tasks <= 1000)) throw new Error('--tasks takes a number from 1 to 1000');
if (!(runs >= 1)) throw new Error('--runs takes a number from 1');

const machine = {
  load: loadavg()[0],
  kernel: release(),
  node: process.version,
  processors: cpus().length,
  model: cpus()[0]?.model,
};
const attach = await measureAttach(runs);
printAttach(attach);
process.stderr.write('credentials: throughput, and latency while tasks start and stop ...\n');
const credentials = await benchCredentials();
printCredentials(credentials);
process.stderr.write(`the looks at ${tasks} tasks ...\n`);
const looks = await measureLooks(tasks);
printLooks(looks);
const file = values.json ?? `${await mkdtemp(`${tmpdir()}/task-eni-bench-`)}/bench.json`;
await writeFile(file, `${JSON.stringify({ machine, attach, credentials, looks }, undefined, 2)}\n`);
console.log(`\nAll figures as JSON: ${file}`);
process.exit();
