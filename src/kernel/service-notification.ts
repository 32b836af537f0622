/** Tells systemd how the service stands (sd_notify(3)): a datagram to a unix socket, which Node cannot send. */
import { closeSync } from 'node:fs';
import { endianness } from 'node:os';
import koffi from 'koffi';
import { KernelError } from './errno.js';

const libc = koffi.load(null);
const nativeSocket = libc.func('int socket(int domain, int type, int protocol)');
const nativeSendto = libc.func(
  'long sendto(int fd, const uint8_t *data, unsigned long size, int flags, const uint8_t *address, uint32_t length)',
);

const AF_UNIX = 1;
/** bits/socket_type.h: SOCK_DGRAM | SOCK_CLOEXEC */
const DATAGRAM_CLOEXEC = 2 | 0o2000000;
/** unix(7): a peer that does not read makes a blocking send wait. */
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** The size of sun_path (unix(7)), the closing zero of a file name included. */
const longestPath = 108;

function checked(result: number | bigint, operation: string): number {
  if (result >= 0) return Number(result);
  throw KernelError.fromNumber(koffi.errno(), operation);
}

/** struct sockaddr_un (unix(7)); `@name` is in the abstract namespace, where a zero byte stands for the `@`. */
export function unixAddress(path: string): Buffer {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`);
  if (!/^[@/]./.test(path) || name.length > longestPath)
    throw new Error(`NOTIFY_SOCKET is ${JSON.stringify(path)}, which names no unix socket`);
  const family = Buffer.alloc(2);
  if (endianness() === 'LE') family.writeUInt16LE(AF_UNIX);
  else family.writeUInt16BE(AF_UNIX);
  return Buffer.concat([family, name]);
}

/**
 * Sends `state`, such as `READY=1`, to the socket that NOTIFY_SOCKET names. Throws {@link KernelError} when nobody is
 * there, and an Error when it names no socket.
 */
export function notifyService(socketPath: string, state: string): void {
  const address = unixAddress(socketPath);
  const socket = checked(nativeSocket(AF_UNIX, DATAGRAM_CLOEXEC, 0), 'socket');
  try {
    const data = Buffer.from(state);
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    checked(nativeSendto(socket, data, data.length, flags, address, address.length), `notify ${socketPath}`);
  } finally {
    closeSync(socket);
  }
}
