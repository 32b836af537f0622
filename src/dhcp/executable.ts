import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Folders that a service's PATH often lacks and that hold what only root runs. */
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The absolute path of an executable file: in PATH first, then in the system's folders. */
export function findExecutable(name: string, searchPath = process.env['PATH'] ?? ''): string | undefined {
  const folders = [...searchPath.split(':').filter((folder) => isAbsolute(folder)), ...systemFolders];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // No permission to execute it: the next folder may have one that can be.
    return false;
  }
}
