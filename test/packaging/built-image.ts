/** The image that deploy/image makes of the tarball, on a base made of what this machine has. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import type { DockerEngine } from '../lab/docker-engine.js';
import { type PackedTarball, installByScript, once } from './installed-package.js';

export interface BuiltImage {
  readonly name: string;
  /** A file as `docker save` writes it. */
  readonly archive: string;
}

/** It is built once for each tarball, on this engine, which keeps nothing of it. */
export async function builtImage(tarball: PackedTarball, engine: DockerEngine): Promise<BuiltImage> {
  const installed = await installByScript(tarball);
  const folder = await once(tarball, 'image', async (fresh) => {
    // Others may use the engine for the same at the same time.
    const [base, name] = [`task-eni-lab/node:${process.pid}`, `task-eni-lab/task-eni:${process.pid}`];
    await build(engine, `${installed}/opt/task-eni`, base, name);
    await run('docker', ['save', '--output', `${fresh}/image.tar`, name], { env: engine.environment() });
    await engine.docker('rmi', name, base);
    await writeFile(`${fresh}/name`, name);
  });
  return { name: await readFile(`${folder}/name`, 'utf8'), archive: `${folder}/image.tar` };
}

/** As the Dockerfile says that it is done where there is no network. */
async function build(engine: DockerEngine, context: string, base: string, name: string): Promise<void> {
  const root = execFileSync('sh', [inCheckout('test/packaging/node-image.sh')], { maxBuffer: 2 ** 30 });
  const path = 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  execFileSync('docker', ['import', '--change', path, '-', base], { input: root, env: engine.environment() });
  const options = ['--network', 'none', '--build-arg', `NODE_IMAGE=${base}`, '--tag', name];
  const dockerfile = ['--file', inCheckout('deploy/image/Dockerfile'), context];
  const env = { ...engine.environment(), DOCKER_BUILDKIT: '0' };
  await run('docker', ['build', '--quiet', '--force-rm', ...options, ...dockerfile], { env, timeout: 240_000 });
}
