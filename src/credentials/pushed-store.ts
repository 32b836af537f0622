import { mkdir, open, readFile, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultInstance } from '../settings.js';
import { formatStored, parseStored } from './pushed.js';
import type { ServedCredentials } from './server/messages.js';

/** linux/magic.h */
const TMPFS_MAGIC = 0x01021994;

const absent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Keeps pushed credentials over a restart of the service, and only in memory: a file a task in the runtime folder when
 * that is on tmpfs, and nowhere otherwise. They are gone with a reboot, as the tasks are. Each instance has a folder of
 * its own: several may share a runtime folder.
 */
export class PushedStore {
  private readonly folder: string;
  /** The default instance's folder, in which former versions kept the credentials of all instances. */
  private readonly formerFolder: string;

  constructor(runDir: string, instance: string) {
    this.formerFolder = join(runDir, 'credentials');
    this.folder = instance === defaultInstance ? this.formerFolder : join(runDir, `credentials-${instance}`);
  }

  /** False when the folder is on a disk: then nothing was kept. */
  async keep(hash: string, credentials: ServedCredentials): Promise<boolean> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    if (!(await this.inMemory())) return false;
    const path = this.path(hash);
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.chmod(0o600);
      await file.writeFile(formatStored(credentials));
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    return true;
  }

  async load(hash: string): Promise<ServedCredentials | undefined> {
    const text = (await readIfThere(this.path(hash))) ?? (await readIfThere(this.formerPath(hash)));
    return text === undefined ? undefined : parseStored(text);
  }

  async discard(hash: string): Promise<void> {
    // A hash is one instance's, so what bears it in the folder of all is this one's too.
    await Promise.all([this.path(hash), this.formerPath(hash)].map((path) => rm(path, { force: true })));
  }

  /** Removes what belongs to none of `hashes`: to tasks that ended while nobody watched. */
  async discardOthers(hashes: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (absent(error)) return [];
      throw error;
    });
    const others = names.filter((name) => !hashes.has(name.replace(/\.json$/, '')));
    await Promise.all(others.map((name) => rm(join(this.folder, name), { force: true })));
  }

  private async inMemory(): Promise<boolean> {
    return (await statfs(this.folder)).type === TMPFS_MAGIC;
  }

  private path(hash: string): string {
    return join(this.folder, `${hash}.json`);
  }

  private formerPath(hash: string): string {
    return join(this.formerFolder, `${hash}.json`);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (absent(error)) return undefined;
    throw error;
  }
}
