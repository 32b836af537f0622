/** What an operator gets: the tarball of `npm pack`, and what npm and deploy/install.sh make of it elsewhere. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { run } from '../lab/command.js';
import { inCheckout } from '../lab/checkout.js';
import { withLock } from '../lab/file-lock.js';

export interface PackedTarball {
  readonly path: string;
  /** As npm calls it. */
  readonly name: string;
  /** Paths in the tarball, without `package/`. */
  readonly files: readonly string[];
}

const cache = inCheckout('node_modules/.packed');
const locked = <T>(work: () => Promise<T>) => withLock(inCheckout('node_modules/.packed.lock'), work, 300);

/** Packs the checkout as it is built. */
export function packTarball(): Promise<PackedTarball> {
  return locked(async () => {
    await mkdir(cache, { recursive: true });
    const output = await run('npm', ['pack', '--json', '--pack-destination', cache], { cwd: inCheckout('.') });
    const [packed] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }];
    const name = contentHash(`${cache}/${packed.filename}`);
    await rename(`${cache}/${packed.filename}`, `${cache}/${name}.tgz`);
    // What was made of former ones takes hundreds of megabytes.
    for (const entry of await readdir(cache))
      if (!entry.startsWith(name)) await rm(`${cache}/${entry}`, { recursive: true });
    return { path: `${cache}/${name}.tgz`, name: packed.filename, files: packed.files.map(({ path }) => path) };
  });
}

/** A folder that was empty, in which the guide's `npm install` put the tarball. What npm has fetched before is not fetched again. */
export function installByNpm(tarball: PackedTarball, command: string): Promise<string> {
  return once(tarball, 'npm', async (folder) => {
    // Without it npm would take the checkout, in which the folder lies, for what is meant.
    await writeFile(`${folder}/package.json`, '{"private":true}\n');
    await copyFile(tarball.path, `${folder}/${tarball.name}`);
    const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
    await run('sh', ['-c', command], { cwd: folder, env, timeout: 240_000 });
  });
}

/** A folder in which deploy/install.sh put the tarball as if it were the root of a host. */
export function installByScript(tarball: PackedTarball): Promise<string> {
  return once(tarball, 'script', async (folder) => {
    const options = ['install', '--from', tarball.path, '--destdir', folder];
    await run(inCheckout('deploy/install.sh'), options, { timeout: 240_000 });
  });
}

/** This takes its time, so what was made of the same tarball before is taken again. */
export function once(tarball: PackedTarball, way: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = tarball.path.replace(/\.tgz$/, `.${way}`);
  return locked(async () => {
    if (existsSync(folder)) return folder;
    await rm(`${folder}.new`, { recursive: true, force: true });
    await mkdir(`${folder}.new`);
    await fill(`${folder}.new`);
    await rename(`${folder}.new`, folder);
    return folder;
  });
}

function contentHash(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
}
