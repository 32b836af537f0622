import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { parsePromql, promtool } from '../prometheus/promtool.js';
import { written } from './guide.js';

const sh = (lines: string, cwd: string) => run('sh', ['-e', '-c', lines], { cwd });
const prometheus = ['/usr/bin/promtool', '/usr/local/bin/promtool'].some((path) => existsSync(path));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(`${tmpdir()}/task-eni-commands-`);
  await symlink(inCheckout('deploy'), `${folder}/deploy`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('commands of the guides', () => {
  it('write the bill of materials, and list licences by it', async () => {
    await sh(written('deploy/package/sbom.mjs > sbom.json'), folder);
    expect(JSON.parse(await readFile(`${folder}/sbom.json`, 'utf8'))).toMatchObject({ bomFormat: 'CycloneDX' });
    expect(await sh(written('deploy/package/licences.mjs < sbom.json'), folder)).toMatch(/^MIT \(\d+\)$/m);
  });

  it('run the tests of one folder', async () => {
    const command = written('npx vitest run -c test/vitest.config.ts test/unit/addresses');
    const kept = Object.entries(process.env).filter(([name]) => !/^(VITEST|VITE_|NODE_ENV)/.test(name));
    const env = Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
    const printed = await run('sh', ['-c', command], { cwd: inCheckout('.'), env });
    expect(printed).toMatch(/^[1-9]\d* passed, 0 failed, 0 skipped$/m);
  });

  it.runIf(prometheus)('have Prometheus look at its configuration, and hold the rules to their tests', async () => {
    const cwd = inCheckout('deploy/prometheus');
    expect(await sh(`${written('promtool check config')} prometheus.yml`, cwd)).toMatch(/SUCCESS/);
    expect(await sh(written('promtool test rules tests/*.yml'), cwd)).toMatch(/SUCCESS/);
  });

  it.runIf(prometheus)('ask Prometheus how long attaches take', async () => {
    const questions = written('deploy/prometheus/README.md › What is measured').trim().split('\n');
    parsePromql(questions);
    // Half of the attaches took up to 0.1 s, and all but one in a hundred up to 1 s.
    const series = ['0.1', '1', '+Inf'].map((le, index) => ({
      series: `task_eni_attach_duration_seconds_bucket{outcome="success",le="${le}"}`,
      values: `0+${[50, 99, 100][index]}x10`,
    }));
    const answers = [0.1, 1].map((value, index) => ({
      expr: questions[index],
      eval_time: '10m',
      exp_samples: [{ labels: '{}', value }],
    }));
    const tests = [{ interval: '1m', input_series: series, promql_expr_test: answers }];
    await writeFile(`${folder}/questions.yml`, JSON.stringify({ tests }));
    expect(questions).toHaveLength(answers.length);
    promtool(['test', 'rules', `${folder}/questions.yml`]);
  });
});
