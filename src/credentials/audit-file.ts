import { closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK, O_NOFOLLOW } = constants;

/**
 * Opens the audit log for appending, and makes it and its folder when they are missing. Throws when it is anything but a
 * plain file: a FIFO would block its writer, and a link in a folder that others can write leads anywhere.
 */
export function openAuditFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW, 0o640);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new Error(`the audit log ${path} is not a plain file`);
}
