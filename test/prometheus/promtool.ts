import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs promtool (Debian's package prometheus). Throws with what it says unless it is content. */
export function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error !== undefined) throw new Error('promtool cannot be run: install the package prometheus', { cause: error });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

/** Throws unless each expression is PromQL: promtool parses them as recording rules. */
export function parsePromql(expressions: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'promql-'));
  try {
    const file = join(folder, 'rules.yml');
    const rules = expressions.map((expr, index) => ({ record: `dashboard:expression:${index}`, expr }));
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    promtool(['check', 'rules', file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
