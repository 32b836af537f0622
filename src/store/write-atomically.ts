import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file as a whole, so that a reader and a crash find the former or the new one, never a part (rename(2)). With
 * `synced` the new one outlives a power cut, too: file and folder entry are on the disk when the promise resolves (fsync(2)).
 * Two writes of one path must not overlap. Mode 0600.
 */
export async function writeAtomically(path: string, data: string, synced: boolean): Promise<void> {
  const draft = `${path}.draft`;
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(data);
      if (synced) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (synced) await syncFolder(dirname(path));
}

/** Makes what was created, renamed or removed in the folder outlive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
