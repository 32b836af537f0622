/** What no test of the guides runs by its own words: who runs it, or why nobody does. */

export interface Elsewhere {
  /** A block's text, so that it is looked at again when it changes. A command is its own. */
  readonly text?: string;
  /** File and words in it that run the same. */
  readonly by?: readonly (readonly [file: string, words: string])[];
  readonly because?: string;
}

const ci = (words: string): Elsewhere => ({ by: [['.ci/run', words]] });
const named = (where: string): Elsewhere => ({ because: `it is but named: ${where}` });
const demo = ['test/demo/demo.test.ts', "inCheckout('test/demo/run.sh')"] as const;

export const elsewhere: Readonly<Record<string, Elsewhere>> = {
  'README.md › task-eni': {
    text: [
      'npm run demo     # builds, lays out a VPC in namespaces, starts the service on it, attaches tasks, shows what happened',
      'npm test         # the whole suite, on the real kernel, Docker, dhclient, AWS clients, Prometheus; a part: npm test -- test/attach',
      '',
    ].join('\n'),
    by: [demo, ['.ci/run', 'npm test']],
  },
  'npm run demo': { by: [demo, ['package.json', '"demo": "sh test/demo/run.sh"']] },
  'npm run demo -- --keep': { by: [demo, ['test/demo/demo.test.ts', "'--keep'"]] },
  'npm ci && npm run build': ci('npm run --silent build'),
  'npm ci': ci('npm ci'),
  'npm run check': ci('npm run --silent check'),
  'npm run lint': ci('npm run --silent lint'),
  'npm run build': ci('npm run --silent build'),
  'npm test': ci('npm test'),
  '.ci/run': { because: 'it is what runs this' },
  'npm run bench': { because: 'it measures for minutes, and passes no judgement' },
  'npm audit --omit=dev': { because: 'not every registry answers it, and what it answers changes by the day' },
  'test/helm/cluster/install.sh': {
    because: 'it builds a Kubernetes for ten minutes; without it the test that runs the block is skipped',
  },
  'gcc libc6-dev': { because: 'these are names of packages' },
  'docker import': named('the block above it has the command'),
  'install.sh': named('as deploy/install.sh the blocks have it'),
  'deploy/install.sh': named('deploy/README.md has it with what it takes'),
  'task-eni serve': { by: [['deploy/systemd/task-eni.service', 'ExecStart=/usr/local/bin/task-eni serve']] },
  'npx openapi-typescript openapi/openapi.json': named('the TypeScript of README.md has it with where its output goes'),
};
