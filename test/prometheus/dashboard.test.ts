import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownSeries, seriesIn } from './known-series.js';
import { parsePromql } from './promtool.js';

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

const file = new URL('../../deploy/grafana/task-eni.json', import.meta.url);
const dashboard = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const expressions = [
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }) => expr),
];

describe('the dashboard', () => {
  it('asks in PromQL', () => {
    parsePromql(expressions.map((expr) => expr.replaceAll(/\$__(?:rate_interval|range)/g, '5m')));
  });

  it('asks only for metrics that the service has', async () => {
    const known = await knownSeries();
    for (const name of expressions.flatMap(seriesIn)) expect(known, name).toContain(name);
  });

  it('shows every metric of the service', async () => {
    const shown = new Set(expressions.flatMap(seriesIn).map(family));
    const known = [...(await knownSeries())].filter((name) => name.startsWith('task_eni_')).map(family);
    expect([...new Set(known)].filter((name) => !shown.has(name))).toEqual([]);
  });

  it('asks in every panel, and of the chosen hosts only', () => {
    for (const { title, targets = [] } of panels) expect(targets.length, title).toBeGreaterThan(0);
    for (const expr of expressions)
      for (const selector of expr.match(/\{[^}]*\}/g) ?? [''])
        expect(selector, expr).toContain('job=~"$job", instance=~"$instance"');
  });

  it('has panels that lie side by side, each with an id of its own', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos, title } of dashboard.panels) expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
  });
});

/** The metric that a series belongs to. */
function family(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '');
}
