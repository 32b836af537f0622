/** The system calls that Node does not offer. Each throws {@link KernelError}; none may be called off the main thread. */
import koffi from 'koffi';
import { KernelError } from './errno.js';

// The libc that Node itself is linked with, whichever it is.
const libc = koffi.load(null);

const nativeSetns = libc.func('int setns(int fd, int type)');
const nativeUnshare = libc.func('int unshare(int flags)');
const nativeMount = libc.func(
  'int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data)',
);
const nativeUmount2 = libc.func('int umount2(const char *target, int flags)');
const nativeFlock = libc.func('int flock(int fd, int operation)');
const nativeIoctl = libc.func('int ioctl(int fd, unsigned long request)');
const nativeSocket = libc.func('int socket(int domain, int type, int protocol)');
const nativeGetsockopt = libc.func(
  'int getsockopt(int fd, int level, int name, _Out_ uint64_t *value, _Inout_ uint32_t *length)',
);
const nativePrctl = libc.func(
  'int prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth)',
);
const nativeReadlink = libc.func('long readlink(const char *path, _Out_ uint8_t *buffer, unsigned long size)');
const nativeSyscall = libc.func('long syscall(long number, long first, long second, long third, long fourth)');

/** linux/sched.h */
const CLONE_NEWNET = 0x40000000;
/** linux/nsfs.h: _IO(0xb7, 0x3) */
const NS_GET_NSTYPE = 0xb703;
const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;
const SOL_SOCKET = 1;
/** asm-generic/socket.h, since Linux 5.14 */
const SO_NETNS_COOKIE = 71;

/** sys/mount.h */
export const mountFlags = { bind: 4096, recursive: 16384, shared: 1 << 20 } as const;

/** System calls that not every libc wraps; their numbers are the same on every architecture (since Linux 5.x). */
const syscallNumbers = { pidfdSendSignal: 424, pidfdOpen: 434, closeRange: 436 } as const;

function checked(result: number, operation: string): number {
  if (result >= 0) return result;
  throw KernelError.fromNumber(koffi.errno(), operation);
}

/** Moves the calling thread into the network namespace (setns(2)). */
export function setNetworkNamespace(fd: number): void {
  checked(nativeSetns(fd, CLONE_NEWNET), 'setns');
}

/** Gives the calling thread a network namespace of its own (unshare(2)). */
export function unshareNetworkNamespace(): void {
  checked(nativeUnshare(CLONE_NEWNET), 'unshare');
}

export function mount(source: string, target: string, flags: number): void {
  checked(nativeMount(source, target, 'none', flags, null), `mount ${target}`);
}

/** Takes the topmost mount off `target` even while it is busy (umount2(2), MNT_DETACH). */
export function unmount(target: string): void {
  const detach = 2;
  checked(nativeUmount2(target, detach), `umount ${target}`);
}

/** Takes the exclusive lock of an open file without waiting (flock(2)). Throws EAGAIN when somebody holds it. */
export function lockFile(fd: number): void {
  const exclusiveNonBlocking = 2 | 4;
  checked(nativeFlock(fd, exclusiveNonBlocking), 'flock');
}

/** Whether an open nsfs file is a network namespace (ioctl_ns(2)). */
export function isNetworkNamespace(fd: number): boolean {
  return checked(nativeIoctl(fd, NS_GET_NSTYPE), 'ioctl NS_GET_NSTYPE') === CLONE_NEWNET;
}

/** A socket of the namespace in which the calling thread stands; whoever opened it closes it. */
export function openUnixSocket(): number {
  return checked(nativeSocket(AF_UNIX, SOCK_STREAM_CLOEXEC, 0), 'socket');
}

/** What identifies a network namespace until the next boot: never given out twice, unlike its inode (socket(7)). */
export function namespaceCookie(socket: number): bigint {
  const value: (number | bigint)[] = [0];
  checked(nativeGetsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, value, [8]), 'getsockopt SO_NETNS_COOKIE');
  return BigInt(value[0] ?? 0);
}

/** Marks every descriptor from `first` on as not for children (close_range(2), CLOSE_RANGE_CLOEXEC; Linux 5.11). */
export function closeOnExecFrom(first: number): void {
  const last = 0xffffffff;
  const closeRangeCloexec = 4;
  checked(nativeSyscall(syscallNumbers.closeRange, first, last, closeRangeCloexec, 0), 'close_range');
}

/**
 * Keeps this process's memory from core dumps, whatever takes them on this host, until it ends; who may trace any process
 * still may (prctl(2), PR_SET_DUMPABLE). A child that executes another program is none of it.
 */
export function forbidCoreDumps(): void {
  const setDumpable = 4;
  checked(nativePrctl(setDumpable, 0, 0, 0, 0), 'prctl PR_SET_DUMPABLE');
}

/** A descriptor that stands for this very process, whoever gets its number later (pidfd_open(2)). */
export function openProcess(pid: number): number {
  return checked(nativeSyscall(syscallNumbers.pidfdOpen, pid, 0, 0, 0), `pidfd_open ${pid}`);
}

export function signalProcess(pidfd: number, signal: number): void {
  checked(nativeSyscall(syscallNumbers.pidfdSendSignal, pidfd, signal, 0, 0), 'pidfd_send_signal');
}

const linkBuffer = Buffer.alloc(4096);

/**
 * What a symbolic link says; undefined when it cannot be read. For looking through all of /proc: node:fs throws for each
 * kernel thread, which takes five times as long.
 */
export function readLink(path: string): string | undefined {
  const length = Number(nativeReadlink(path, linkBuffer, linkBuffer.length));
  return length < 0 ? undefined : linkBuffer.toString('utf8', 0, length);
}
