/**
 * A TCP socket that listens in a namespace before anybody accepts on it. Node cannot make one: it resolves even a literal
 * address asynchronously, when the visit is over. Whoever holds the descriptor keeps the port, so a server that dies and
 * is replaced refuses nobody meanwhile: the kernel lets connections wait.
 */
import { closeSync } from 'node:fs';
import { endianness } from 'node:os';
import koffi from 'koffi';
import type { Ipv4 } from '../addresses/cidr.js';
import { addressToBytes } from '../addresses/cidr.js';
import { KernelError } from './errno.js';
import type { Namespace } from './namespaces.js';

const libc = koffi.load(null);
const nativeSocket = libc.func('int socket(int domain, int type, int protocol)');
const nativeSetsockopt = libc.func('int setsockopt(int fd, int level, int name, const int *value, uint32_t length)');
const nativeBind = libc.func('int bind(int fd, const uint8_t *address, uint32_t length)');
const nativeListen = libc.func('int listen(int fd, int backlog)');

const AF_INET = 2;
/** bits/socket_type.h: SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC */
const STREAM_NONBLOCK_CLOEXEC = 1 | 0o4000 | 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
/** Capped by net.core.somaxconn. */
const backlog = 4096;

function checked(result: number, operation: string): number {
  if (result >= 0) return result;
  throw KernelError.fromNumber(koffi.errno(), operation);
}

/** struct sockaddr_in (ip(7)): the family in the host's byte order, port and address in the network's. */
function socketAddress(address: Ipv4, port: number): Buffer {
  const bytes = Buffer.alloc(16);
  if (endianness() === 'LE') bytes.writeUInt16LE(AF_INET);
  else bytes.writeUInt16BE(AF_INET);
  bytes.writeUInt16BE(port, 2);
  addressToBytes(address).copy(bytes, 4);
  return bytes;
}

/**
 * Listens on an address of the namespace and gives the descriptor, which whoever asked closes. Throws {@link KernelError}:
 * EADDRNOTAVAIL while no link of the namespace has the address, EADDRINUSE while another socket listens on it.
 */
export function listenIn(namespace: Namespace, address: Ipv4, port: number): number {
  const operation = `listen on ${address}:${port}`;
  const socket = namespace.visit(() => checked(nativeSocket(AF_INET, STREAM_NONBLOCK_CLOEXEC, 0), 'socket'));
  try {
    checked(nativeSetsockopt(socket, SOL_SOCKET, SO_REUSEADDR, [1], 4), operation);
    const bytes = socketAddress(address, port);
    checked(nativeBind(socket, bytes, bytes.length), operation);
    checked(nativeListen(socket, backlog), operation);
    return socket;
  } catch (error) {
    closeSync(socket);
    throw error;
  }
}
