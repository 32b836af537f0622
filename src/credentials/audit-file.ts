import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../kernel/folder.js';

const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NONBLOCK, O_NOFOLLOW } = constants;
const appending = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW;
/** An administrator's group may read it: logrotate keeps it so. */
const mode = 0o640;

/**
 * Opens the audit log for appending, and makes it and its folder when they are missing. Throws when it is anything but a
 * plain file: a FIFO would block its writer, and a link in a folder that others can write leads anywhere.
 */
export function openAuditFile(path: string): number {
  makeFolder(dirname(path), 0o750);
  const descriptor = create(path) ?? openSync(path, appending, mode);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new Error(`the audit log ${path} is not a plain file`);
}

/** Undefined when it is there already: then its mode is for whoever made it to choose. */
function create(path: string): number | undefined {
  try {
    const descriptor = openSync(path, appending | O_EXCL, mode);
    // The umask may have taken the group's right.
    fchmodSync(descriptor, mode);
    return descriptor;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}
