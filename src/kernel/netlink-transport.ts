/** One rtnetlink socket, used as the kernel and the library can bear it. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  Flags,
  FlagsGet,
  MessageType,
  type NetlinkMessage,
  type NetlinkSocket,
  Protocol,
  createNetlink,
  parseError,
} from 'netlink';
import { KernelError, isErrno } from './errno.js';
import type { Namespace } from './namespaces.js';
import { hasTime, spend, whenTime } from './turn-budget.js';

/** One rtnetlink message to be sent. */
export interface Request {
  /** RTM_* of linux/rtnetlink.h. */
  readonly type: number;
  /** NLM_F_* beside NLM_F_REQUEST and NLM_F_ACK. */
  readonly flags?: number;
  readonly body: Buffer;
  /** What it is for, in words: part of the error when the kernel refuses. */
  readonly operation: string;
}

interface Job {
  readonly dump: boolean;
  readonly start: () => Promise<void>;
  readonly cancel: (error: KernelError) => void;
}

/**
 * Answers wait in the socket's receive buffer (212,992 bytes unless the host sets it otherwise); when it overflows, the
 * library ends the process. Sixteen answers of at most 4 KiB fit in with room to spare.
 */
const requestsAtOnce = 16;
/** A request is done when sendmsg returns; only the reading of its answer may have to wait for the event loop. */
const timeoutMs = 30_000;
const dumpAttempts = 20;

/**
 * Invariants:
 * - requests reach the kernel in the order of the calls, many at once; the kernel carries each out before it takes the next;
 * - a dump is alone on the socket: a second one is refused with EBUSY, and an answer in its midst breaks it off;
 * - a dump that the kernel calls inconsistent (NLM_F_DUMP_INTR: links came or went meanwhile) is asked for again;
 * - requests that together hold the main thread for long go on in the next turn of the event loop;
 * - every promise settles, at the latest when the socket is closed.
 */
export class NetlinkTransport {
  private readonly waiting: Job[] = [];
  private readonly active = new Set<Job>();
  private closed = false;
  private deferred = false;

  constructor(private readonly socket: Pick<NetlinkSocket, 'request' | 'close' | 'on'>) {
    // The library tells a failed send to its request as well; unheard, the event would end the process.
    socket.on('error', () => this.close());
  }

  /** Opens the socket inside the namespace, to which it belongs from then on wherever the thread stands. */
  static open(namespace: Namespace): NetlinkTransport {
    return namespace.visit(() => new NetlinkTransport(createNetlink(Protocol.ROUTE)));
  }

  /** Sends a request and resolves with the answer: the body of one message, or nothing but the kernel's consent. */
  async request(request: Request): Promise<Buffer | undefined> {
    const [message] = await this.enqueue(false, request);
    return message?.data;
  }

  /** Asks for a whole listing. */
  async dump(request: Request): Promise<Buffer[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const messages = await this.enqueue(true, { ...request, flags: FlagsGet.DUMP });
        if (!messages.some((message) => (message.flags & Flags.DUMP_INTR) !== 0))
          return messages.map((message) => message.data);
        if (attempt >= dumpAttempts) throw new KernelError('EINTR', request.operation);
      } catch (error) {
        if (!isErrno(error, 'EBUSY') || attempt >= dumpAttempts) throw error;
      }
      await pause(attempt);
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    const unfinished = [...this.active, ...this.waiting.splice(0)];
    for (const job of unfinished) job.cancel(new KernelError('ECANCELED', 'netlink socket closed'));
    this.socket.close();
  }

  private enqueue(dump: boolean, request: Request): Promise<NetlinkMessage[]> {
    return new Promise((resolve, reject) => {
      if (this.closed) throw new KernelError('EBADF', request.operation);
      this.waiting.push({ dump, cancel: reject, start: () => this.send(request).then(resolve, reject) });
      this.startWaiting();
    });
  }

  private startWaiting(): void {
    for (let next = this.waiting[0]; next !== undefined && this.mayStart(next); next = this.waiting[0]) {
      if (!hasTime()) return this.defer();
      const job = next;
      this.waiting.shift();
      this.active.add(job);
      void job.start().finally(() => {
        this.active.delete(job);
        this.startWaiting();
      });
    }
  }

  private defer(): void {
    if (this.deferred) return;
    this.deferred = true;
    whenTime(() => {
      this.deferred = false;
      this.startWaiting();
    });
  }

  private mayStart(job: Job): boolean {
    if (this.active.size === 0) return true;
    const [running] = this.active;
    return !job.dump && running?.dump === false && this.active.size < requestsAtOnce;
  }

  private async send(request: Request): Promise<NetlinkMessage[]> {
    const { type, flags = 0, body, operation } = request;
    const [messages] = await spend(() =>
      this.socket.request(type, body, { flags, timeout: timeoutMs, checkError: false }),
    ).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error) throw KernelError.fromFileSystem(error, operation);
      // What has no errno comes from the library: no answer in time, or one that it cannot read.
      const isTimeout = error instanceof Error && error.message.startsWith('Timeout');
      throw new KernelError(isTimeout ? 'ETIMEDOUT' : 'EBADMSG', operation, { cause: error });
    });
    const [first] = messages;
    if (first?.type !== MessageType.ERROR) return messages;
    const { errno } = parseError(first.data, first.flags);
    if (errno !== 0) throw KernelError.fromNumber(-errno, operation);
    return [];
  }
}
