#!/usr/bin/env node
import { parseArgs } from 'node:util';

const usage = `Usage: task-eni <command>

Commands:
  serve                      run the service until SIGTERM
  status [taskId] [--json]   show the host's tasks, or one of them, by the API's socket
  doctor [--json]            check whether this host can run the service; exit 1 when not
  help                       print this, as --help does; --version prints the version

Settings come from the environment: see README.md.
`;

function fail(reason: string): never {
  process.stderr.write(`${reason}\n\n${usage}`);
  process.exit(2);
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

async function run(): Promise<number> {
  const { values, positionals } = parse();
  const [command, ...rest] = positionals;
  if (values.help === true || command === 'help') return print(usage);
  if (values.version === true) return print(`${(await import('./api/service-version.js')).serviceVersion}\n`);
  if (command === undefined) return fail('a command is missing');
  // Each command loads only what it needs: `status` answers in a fraction of the time that the service takes to start.
  switch (command) {
    case 'serve':
      if (rest.length > 0) return fail('serve takes no arguments');
      return (await import('./cli/serve.js')).serve(process.env);
    case 'status':
      if (rest.length > 1) return fail('status takes one task id');
      return (await import('./cli/status.js')).status(process.env, rest[0], values.json === true);
    case 'doctor':
      if (rest.length > 0) return fail('doctor takes no arguments');
      return (await import('./cli/doctor.js')).doctor(process.env, values.json === true);
    default:
      return fail(`there is no command ${JSON.stringify(command)}`);
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

// Whoever reads may have seen enough, as `head` has; a disk that is full is another matter.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`standard output cannot be written: ${error.message}\n`);
  process.exit(1);
});
const code = await run();
// Not at once: a pipe takes only what it holds until it is read, and what was refused is told after the write.
process.stdout.write('', () => setImmediate(() => process.exit(code)));
