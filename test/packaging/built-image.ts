/** The image that deploy/image makes of the tarball, on a base made of what this machine has. */
import { execFileSync } from 'node:child_process';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import type { DockerEngine } from '../lab/docker-engine.js';
import { type PackedTarball, installByScript, once } from './installed-package.js';

export const image = 'task-eni-lab/task-eni:1';
const base = 'task-eni-lab/node:1';

/** An archive as `docker save` writes it. It is built on the engine, which keeps nothing of it, once for each tarball. */
export async function imageArchive(tarball: PackedTarball, engine: DockerEngine): Promise<string> {
  const installed = await installByScript(tarball);
  const folder = await once(tarball, 'image', async (fresh) => {
    await build(engine, `${installed}/opt/task-eni`);
    await run('docker', ['save', '--output', `${fresh}/image.tar`, image], { env: engine.environment() });
    await engine.docker('rmi', image, base);
  });
  return `${folder}/image.tar`;
}

/** As the Dockerfile says that it is done where there is no network. */
async function build(engine: DockerEngine, context: string): Promise<void> {
  const root = execFileSync('sh', [inCheckout('test/packaging/node-image.sh')], { maxBuffer: 2 ** 30 });
  const path = 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  execFileSync('docker', ['import', '--change', path, '-', base], { input: root, env: engine.environment() });
  const options = ['--network', 'none', '--build-arg', `NODE_IMAGE=${base}`, '--tag', image];
  const dockerfile = ['--file', inCheckout('deploy/image/Dockerfile'), context];
  const env = { ...engine.environment(), DOCKER_BUILDKIT: '0' };
  await run('docker', ['build', '--quiet', '--force-rm', ...options, ...dockerfile], { env, timeout: 240_000 });
}
