/**
 * Loaded into the service before its own code. The file KILL_FILE names a moment, e.g. `move-eni done after` of a step or
 * `container start before` of a call to Docker: there the service ends itself with SIGKILL, or the process whose number
 * stands in a second line.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, rmSync } from 'node:fs';

const { KILL_DIST, KILL_FILE } = process.env;
const { Containers } = await import(`${KILL_DIST}/sandboxes/containers.js`);

function due() {
  try {
    return readFileSync(KILL_FILE, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function killAt(moment) {
  const [when, victim = process.pid] = due();
  if (when !== moment) return;
  rmSync(KILL_FILE);
  process.kill(Number(victim), 'SIGKILL');
}

subscribe('task-eni:step', ({ kind, outcome, moment }) => killAt(`${kind} ${outcome} ${moment}`));

for (const method of ['create', 'start', 'destroy']) {
  const real = Containers.prototype[method];
  Containers.prototype[method] = async function (...args) {
    killAt(`container ${method} before`);
    const result = await real.apply(this, args);
    killAt(`container ${method} after`);
    return result;
  };
}
