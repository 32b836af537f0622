import { constants } from 'node:os';

/** Errno numbers that node:os does not name but the network stack returns (asm-generic/errno.h). */
const furtherErrnos: readonly (readonly [string, number])[] = [['EXFULL', 54]];

const namesByNumber = new Map<number, string>(
  [...Object.entries(constants.errno), ...furtherErrnos].map(([name, number]) => [number, name]),
);
// Two names share one number on Linux; the kernel's own documents say EAGAIN and EOPNOTSUPP.
namesByNumber.set(constants.errno.EAGAIN, 'EAGAIN');
namesByNumber.set(constants.errno.EOPNOTSUPP, 'EOPNOTSUPP');

/** The name of a positive errno number, e.g. `EEXIST` of 17. */
export function errnoName(number: number): string {
  return namesByNumber.get(number) ?? `errno ${number}`;
}

/** A system call or an rtnetlink request that the kernel refused. */
export class KernelError extends Error {
  override readonly name = 'KernelError';

  constructor(
    /** e.g. `EEXIST` */
    readonly errno: string,
    /** What was tried, e.g. `move link 7`. */
    readonly operation: string,
    options?: ErrorOptions,
  ) {
    super(`${operation}: ${errno}`, options);
  }

  static fromNumber(number: number, operation: string): KernelError {
    return new KernelError(errnoName(number), operation);
  }

  /** Wraps what node:fs throws (`error.code` is the errno's name). Anything else is thrown on as it is. */
  static fromFileSystem(error: unknown, operation: string): KernelError {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string') throw error;
    return new KernelError(code, operation, { cause: error });
  }
}

/** Whether the kernel answered with one of these errnos. */
export function isErrno(error: unknown, ...names: readonly string[]): error is KernelError {
  return error instanceof KernelError && names.includes(error.errno);
}

/** A `catch` handler for what is as good as done: swallows these errnos and throws everything else on. */
export function ignoring(...names: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!isErrno(error, ...names)) throw error;
    return undefined;
  };
}
