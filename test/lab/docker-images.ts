/** Images made from what the machine has; nothing is pulled. */
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { inCheckout } from './checkout.js';
import { run } from './command.js';

export type ImageName = 'pause' | 'app';

export const images = { pause: 'task-eni-lab/pause:1', app: 'task-eni-lab/app:1' } as const;

const compilers = ['/usr/bin/gcc', '/usr/bin/cc'];

type Docker = (...args: string[]) => Promise<string>;

/** Makes the image unless the engine has it: `pause` holds a namespace open, `app` has busybox (sh, ip, ping, wget, nc ...). */
export async function importImage(
  name: ImageName,
  engine: { environment: Record<string, string>; docker: Docker },
): Promise<string> {
  const image = images[name];
  if ((await engine.docker('images', '--quiet', image)) !== '') return image;
  const buildPause = inCheckout('deploy/pause/build.sh');
  const compiler = compilers.find((each) => existsSync(each));
  if (name === 'pause' && compiler !== undefined && existsSync(buildPause)) {
    await run('sh', [buildPause, '--import', image], { env: { ...engine.environment, CC: compiler } });
    return image;
  }
  await importBusybox(image, name === 'pause' ? waitForever : ['/bin/sh'], engine.docker);
  return image;
}

/** Process 1 gets no signal that it has not asked for (pid_namespaces(7)): without the trap, a stop takes ten seconds. */
const waitForever = ['/bin/sh', '-c', 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'];

async function importBusybox(image: string, entrypoint: readonly string[], docker: Docker): Promise<void> {
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((each) => existsSync(each));
  if (busybox === undefined) throw new Error('busybox is not installed: the Debian package is busybox-static');
  const work = await mkdtemp(`${tmpdir()}/task-eni-image-`);
  try {
    const root = `${work}/root`;
    for (const folder of ['bin', 'etc', 'proc', 'root', 'sys', 'tmp'])
      await mkdir(`${root}/${folder}`, { recursive: true });
    await copyFile(busybox, `${root}/bin/busybox`);
    await chmod(`${root}/bin/busybox`, 0o755);
    const applets = (await run(busybox, ['--list'])).split('\n').filter((each) => each !== '' && each !== 'busybox');
    for (const applet of applets) await symlink('busybox', `${root}/bin/${applet}`);
    await writeFile(`${root}/etc/passwd`, 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n');
    await run('tar', ['--create', '--file', `${work}/root.tar`, '--directory', root, '--owner=0', '--group=0', '.']);
    const changes = [
      'ENV PATH=/bin',
      entrypoint === waitForever ? `ENTRYPOINT ${JSON.stringify(entrypoint)}` : `CMD ${JSON.stringify(entrypoint)}`,
    ];
    await docker('import', ...changes.flatMap((change) => ['--change', change]), `${work}/root.tar`, image);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
