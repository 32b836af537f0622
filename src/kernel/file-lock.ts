import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { KernelError, isErrno } from './errno.js';
import { lockFile } from './libc.js';

/** Another process holds the lock. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  constructor(path: string, holder: string) {
    super(`${path} is locked by ${holder === '' ? 'another process' : `process ${holder}`}`);
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    throw KernelError.fromFileSystem(error, `open ${path}`);
  }
}

/**
 * An exclusive lock that ends with its holder, however it ends (flock(2)): the kernel drops it with the descriptor, so a
 * crash leaves nothing to clean up. The file holds the holder's pid for people to read.
 */
export class FileLock {
  private constructor(
    readonly path: string,
    private readonly fd: number,
  ) {}

  /** Throws {@link LockedError} at once when somebody holds it, {@link KernelError} when the file cannot be opened. */
  static acquire(path: string): FileLock {
    const fd = open(path);
    try {
      lockFile(fd);
      ftruncateSync(fd);
      writeSync(fd, `${process.pid}\n`);
      return new FileLock(path, fd);
    } catch (error) {
      closeSync(fd);
      if (isErrno(error, 'EAGAIN')) throw new LockedError(path, readFileSync(path, 'utf8').trim());
      throw error;
    }
  }

  release(): void {
    closeSync(this.fd);
  }
}
