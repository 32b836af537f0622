/** Finds, or compiles, the lab's servers: Node 20 runs no TypeScript, and a test runs from the sources. */
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hasCode } from './lab-id.js';

const servers = fileURLToPath(new URL('./servers', import.meta.url));

/** Path of a server that `node` can run: the compiled one beside this file, else one compiled now and kept by its content. */
export async function programFile(name: string): Promise<string> {
  const compiled = `${servers}/${name}.js`;
  if (existsSync(compiled)) return compiled;
  return `${await compileServers()}/${name}.js`;
}

let compiling: Promise<string> | undefined;

function compileServers(): Promise<string> {
  compiling ??= compile();
  return compiling;
}

async function compile(): Promise<string> {
  const names = (await readdir(servers)).filter((name) => name.endsWith('.ts')).toSorted();
  const sources = await Promise.all(names.map((name) => readFile(`${servers}/${name}`, 'utf8')));
  const hash = createHash('sha256')
    .update(JSON.stringify([process.version, names, sources]))
    .digest('hex')
    .slice(0, 16);
  const parent = `${tmpdir()}/task-eni-lab-${process.getuid?.() ?? 0}`;
  const directory = `${parent}/servers-${hash}`;
  if (existsSync(directory)) return directory;
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await forgetOld(parent);
  const { default: ts } = await import('typescript');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  const fresh = await mkdtemp(`${parent}/new-`);
  await writeFile(`${fresh}/package.json`, '{"type":"module"}\n');
  for (const [index, name] of names.entries()) {
    const { outputText } = ts.transpileModule(sources[index] ?? '', { compilerOptions });
    await writeFile(`${fresh}/${name.replace(/\.ts$/, '.js')}`, outputText);
  }
  try {
    await rename(fresh, directory);
  } catch (error) {
    // Another process was quicker with the same content.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    await rm(fresh, { recursive: true });
  }
  return directory;
}

const day = 86_400_000;

/** Of other versions, and of compilations that crashed, what is older than a day: younger ones may be in use. */
async function forgetOld(parent: string): Promise<void> {
  for (const name of (await readdir(parent)).filter((each) => /^(?:servers|new)-/.test(each))) {
    const path = `${parent}/${name}`;
    if (Date.now() - statSync(path).mtimeMs > day) await rm(path, { recursive: true, force: true });
  }
}
