/** Measures attach, detach and credentials; prints tables and writes JSON. Passes no judgement. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAttach } from './attach.js';
import { benchCredentials } from './credentials.js';
import { printAttach, printCredentials } from './report.js';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '20' }, json: { type: 'string' } } });
const runs = Number(values.runs);
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
const file = values.json ?? `${await mkdtemp(`${tmpdir()}/task-eni-bench-`)}/bench.json`;
await writeFile(file, `${JSON.stringify({ machine, attach, credentials }, undefined, 2)}\n`);
console.log(`\nAll figures as JSON: ${file}`);
process.exit();
