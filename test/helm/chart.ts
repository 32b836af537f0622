/** Runs helm on the chart, and holds manifests to Kubernetes' own schemas. See install.sh for where both come from. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';

const cache = `${process.env['XDG_CACHE_HOME'] ?? `${homedir()}/.cache`}/task-eni-tests`;
const directories = [...(process.env['PATH'] ?? '').split(':'), `${cache}/bin`];
export const helmProgram = directories.map((directory) => `${directory}/helm`).find((path) => existsSync(path));
const schemas = `${cache}/python`;

/** What is not there; undefined when nothing is missing. */
export function missingForChart(): string | undefined {
  const missing = [
    helmProgram === undefined ? 'helm' : [],
    existsSync(`${schemas}/kubernetes_validate`) ? [] : 'kubernetes-validate',
  ].flat();
  return missing.length === 0 ? undefined : `${missing.join(' and ')} missing: run test/helm/install.sh`;
}

export const chartFolder = inCheckout('helm/task-eni');

export function helm(...args: string[]): Promise<string> {
  return run(helmProgram ?? 'helm', args);
}

/** The manifests of a release called `eni` in the namespace `tasks`. */
export function render(...args: string[]): Promise<string> {
  return helm('template', 'eni', chartFolder, '--namespace', 'tasks', '--kube-version', '1.30.0', ...args);
}

/** A line for each manifest, or why it is not valid for this version. Unknown properties are not. */
export async function validate(manifests: string, version: string): Promise<string[]> {
  const folder = await mkdtemp(`${tmpdir()}/task-eni-chart-`);
  try {
    await writeFile(`${folder}/manifests.yaml`, manifests);
    const args = ['-m', 'kubernetes_validate', '--strict', '-k', version, `${folder}/manifests.yaml`];
    const script = ['-c', 'exec python3 "$@" 2>&1', 'sh', ...args];
    const env = { PATH: process.env['PATH'] ?? '', PYTHONPATH: schemas };
    const output = await run('sh', script, { env });
    return output
      .trim()
      .split('\n')
      .map((line) => line.replace(`${folder}/manifests.yaml `, ''));
  } finally {
    await rm(folder, { recursive: true });
  }
}
