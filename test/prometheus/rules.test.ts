import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownSeries, seriesIn } from './known-series.js';
import { promtool } from './promtool.js';

const folder = new URL('../../deploy/prometheus/', import.meta.url).pathname;
const read = (name: string) => readFileSync(`${folder}${name}`, 'utf8');
const tests = readdirSync(`${folder}tests`).map((name) => `${folder}tests/${name}`);

const expressions = (name: string) =>
  [...read(name).matchAll(/^ {8}expr: (?:\|2\n((?: {10,}.*\n)+)|(.*)$)/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  );

describe('the rules', () => {
  it('and the example of a configuration are what Prometheus takes', () => {
    promtool(['check', 'config', `${folder}prometheus.yml`]);
  });

  it('alert and record as they should', () => {
    expect(tests.length).toBeGreaterThan(0);
    promtool(['test', 'rules', ...tests]);
  });

  it('speak only of metrics that the service has', async () => {
    const known = await knownSeries();
    const all = [...expressions('rules.yml'), ...expressions('alerts.yml')];
    expect(all.length).toBe((read('rules.yml') + read('alerts.yml')).match(/^ {8}expr:/gm)?.length);
    for (const name of all.flatMap(seriesIn)) expect(known, name).toContain(name);
  });

  it('alert only by recorded names that are recorded', () => {
    const recorded = [...read('rules.yml').matchAll(/record: (\S+)/g)].map(([, name]) => name);
    const used = expressions('alerts.yml').flatMap((text) => text.match(/\w+:\w+:\w+/g) ?? []);
    expect(used.length).toBeGreaterThan(0);
    for (const name of used) expect(recorded).toContain(name);
  });

  it('each have a test, a severity and words for whoever is called', () => {
    const tested = tests.map((path) => readFileSync(path, 'utf8')).join('\n');
    for (const alert of read('alerts.yml').split('- alert: ').slice(1)) {
      const name = alert.split('\n')[0] ?? '';
      expect(alert, name).toMatch(/severity: (critical|warning|info)/);
      expect(alert, name).toMatch(/summary: /);
      expect(alert, name).toMatch(/description: /);
      expect(
        testedNames(tested).some((pattern) => pattern.test(name)),
        `${name} is tested`,
      ).toBe(true);
    }
  });
});

/** Names and name patterns of the alerts that the tests expect something of. */
function testedNames(text: string): RegExp[] {
  const names = [...text.matchAll(/alertname(?:: |=~?")([^"\s]+)/g)].map(([, name]) => name);
  return names.map((name) => new RegExp(`^${name}$`));
}
