/** Shows the service at work in a lab of network namespaces: npm run demo [-- --keep] */
import { Interruption } from './interruption.js';
import { play } from './play.js';
import { Stage } from './stage.js';
import { complain, conclude, say } from './terminal.js';

const stage = new Stage();
const interruption = new Interruption();
const played = play(stage, interruption, process.argv.includes('--keep')).then(
  () => 0,
  (error: unknown) => {
    // What fails when its ground is taken away is of no interest.
    if (!interruption.happened) complain(error instanceof Error ? error.message : String(error));
    return 1;
  },
);
const interrupted = interruption.unexpected.then((code) => {
  say('Interrupted: taking everything down ...');
  return code;
});
process.exitCode = await Promise.race([played, interrupted]);
await stage.takeDown();
const left = await stage.left();
if (left.length > 0) complain(`something is left: ${left.join(', ')}`);
else conclude('Nothing is left of the demo: no namespace, no process, no file.');
process.exit(left.length > 0 ? 1 : process.exitCode);
