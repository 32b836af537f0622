/** Loaded into the service before its own code: ends it with SIGKILL at the moment of a step that KILL_AT names, e.g. `move-eni done after`. */
import { subscribe } from 'node:diagnostics_channel';

subscribe('task-eni:step', ({ kind, outcome, moment }) => {
  if (`${kind} ${outcome} ${moment}` === process.env['KILL_AT']) process.kill(process.pid, 'SIGKILL');
});
