/** A process's change of user for good, for a Node that refuses it. */
import koffi from 'koffi';
import { KernelError } from './errno.js';

const libc = koffi.load(null);
const setgroups = libc.func('int setgroups(unsigned long count, const void *groups)');
const setgid = libc.func('int setgid(unsigned int id)');
const setuid = libc.func('int setuid(unsigned int id)');

/** Leaves the process no group but the one with this id, and makes it this user's, in every thread (nptl(7)). */
export function becomeUser(id: number): void {
  checked(setgroups(0, null), 'setgroups');
  checked(setgid(id), 'setgid');
  checked(setuid(id), 'setuid');
}

function checked(result: number, operation: string): void {
  if (result !== 0) throw KernelError.fromNumber(koffi.errno(), operation);
}
