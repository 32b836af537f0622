import { chmodSync, mkdirSync } from 'node:fs';

/** Makes the folder, and those above it, where it is missing; it has the mode whatever the umask. One that is there stays as it is. */
export function makeFolder(path: string, mode: number): void {
  if (mkdirSync(path, { recursive: true, mode }) !== undefined) chmodSync(path, mode);
}
