/** Leaves root for good, and makes sure that it worked. */
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { privilegesLeft } from './privileges-left.js';

/** The user and group that own nothing: `nobody` and `nogroup`. */
const nobody = 65534;

/**
 * Drops groups, gid and uid, and throws when any thread could still do more than nobody can. no_new_privs is the
 * parent's to set before the exec (setpriv): prctl(2) sets it for one thread, and Node has several by now.
 */
export async function dropPrivileges(): Promise<void> {
  emptyCoreDumps();
  try {
    process.setgroups?.([]);
    process.setgid?.(nobody);
    process.setuid?.(nobody);
  } catch (error) {
    // Node does not when its libuv might use io_uring (CVE-2024-22017), and Debian 13's always might. This one may not: see the
    // environment that it is started with. Threads of the kernel's that kept root would be found below.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_INVALID_STATE') throw error;
    const { becomeUser } = await import('../../kernel/become-user.js');
    becomeUser(nobody);
  }
  const left = readdirSync('/proc/self/task').flatMap((thread) =>
    privilegesLeft(readFileSync(`/proc/self/task/${thread}/status`, 'utf8'), nobody),
  );
  // A process whose ids changed is not dumpable, and its files in /proc are root's (proc(5)), unless fs.suid_dumpable is 1.
  if (statSync('/proc/self/environ').uid !== 0)
    left.push('other processes of its user can read its memory (fs.suid_dumpable is 1)');
  if (left.length > 0) throw new Error(`privileges were not dropped: ${[...new Set(left)].join('; ')}`);
}

/** Whatever writes core dumps on this host gets none of the memory (core(5)). */
function emptyCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch (error) {
    // A kernel without core dumps has no such file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
