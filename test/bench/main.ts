/** Measures attach, detach and credentials; prints tables and writes JSON. Passes no judgement. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAttach } from './attach.js';
import { measureCredentials } from './credentials.js';
import { printAttach, printCredentials } from './report.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const [runs, seconds] = [Number(values.runs), Number(values.seconds)];
if (!(runs >= 1) || !(seconds >= 1)) throw new Error('--runs and --seconds take numbers from 1');

const machine = { kernel: release(), node: process.version, processors: cpus().length, model: cpus()[0]?.model };
const attach = await measureAttach(runs);
printAttach(attach);
const credentials = await measureCredentials(seconds);
printCredentials(credentials);
const file = values.json ?? `${await mkdtemp(`${tmpdir()}/task-eni-bench-`)}/bench.json`;
await writeFile(file, `${JSON.stringify({ machine, attach, credentials }, undefined, 2)}\n`);
console.log(`\nAll figures as JSON: ${file}`);
process.exit();
