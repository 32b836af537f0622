import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DockerEngine } from './lab/docker-engine.js';
import { withLock } from './lab/file-lock.js';

/** Milliseconds since the epoch at which the newest file below the folder was written. */
function newest(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Math.max(0, ...files.map(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs));
}

function isStale(): boolean {
  const built = statSync('dist/main.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.max(newest('src'), statSync('nest-cli.json').mtimeMs) > built;
}

/** The tests run what is built, so it is built first; and one Docker engine serves them all. */
export async function setup(): Promise<() => Promise<void>> {
  mkdirSync('node_modules', { recursive: true });
  await withLock('node_modules/.build-lock', async () => {
    if (isStale()) execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 2, 2] });
  });
  if (process.env['TASK_ENI_TEST_WITHOUT_DOCKER'] === 'true') return async () => {};
  const engine = await DockerEngine.start();
  return () => engine.stop();
}
