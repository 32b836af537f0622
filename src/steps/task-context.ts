import type { Logger } from 'pino';
import type { CredentialsRequest } from '../attachments/request.js';
import { TaskEniError } from '../errors.js';
import type { Namespace } from '../kernel/namespaces.js';
import { NetlinkSession } from '../kernel/netlink.js';
import type { AttachmentRecord } from '../store/record.js';

export interface TaskContextParts {
  readonly hash: string;
  readonly record: () => AttachmentRecord;
  readonly update: (change: Partial<AttachmentRecord>) => void;
  readonly keep: (change: Partial<AttachmentRecord>) => Promise<void>;
  /** With their secrets; null when the task has none, or when they are not at hand (an undo needs none). */
  readonly credentials: CredentialsRequest | null;
  /** Opens the namespace that the record names; undefined when it is gone, or when another has its place. */
  readonly open: (record: AttachmentRecord) => Namespace | undefined;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * What the steps of one operation share. The task's namespace is opened once and held by descriptor until the operation
 * ends, so that no later step can meet another namespace under the same path or pid.
 */
export class TaskContext {
  private opened: Namespace | undefined;
  private session: NetlinkSession | undefined;

  constructor(private readonly parts: TaskContextParts) {}

  get hash(): string {
    return this.parts.hash;
  }

  get record(): AttachmentRecord {
    return this.parts.record();
  }

  get credentials(): CredentialsRequest | null {
    return this.parts.credentials;
  }

  get logger(): Logger {
    return this.parts.logger;
  }

  get signal(): AbortSignal {
    return this.parts.signal;
  }

  update(change: Partial<AttachmentRecord>): void {
    this.parts.update(change);
  }

  /** Like {@link update}, for what undo must know after a crash: written when the promise resolves. */
  keep(change: Partial<AttachmentRecord>): Promise<void> {
    return this.parts.keep(change);
  }

  /** Notes the namespace that a step just opened; the context closes it in the end. */
  hold(namespace: Namespace): void {
    this.release();
    this.opened = namespace;
  }

  /** The task's namespace, or undefined when it is gone. */
  namespace(): Namespace | undefined {
    this.opened ??= this.parts.open(this.record);
    return this.opened;
  }

  /** rtnetlink in the task's namespace, or undefined when that is gone. */
  netlink(): NetlinkSession | undefined {
    const namespace = this.namespace();
    if (namespace !== undefined) this.session ??= NetlinkSession.open(namespace);
    return this.session;
  }

  /** The task's namespace for a step that cannot do without. Throws unusable-sandbox. */
  openNamespace(): Namespace {
    const namespace = this.namespace();
    if (namespace === undefined) throw new TaskEniError('unusable-sandbox', 'the sandbox has ended');
    return namespace;
  }

  openNetlink(): NetlinkSession {
    const session = this.netlink();
    if (session === undefined) throw new TaskEniError('unusable-sandbox', 'the sandbox has ended');
    return session;
  }

  release(): void {
    this.session?.close();
    this.opened?.close();
    this.session = undefined;
    this.opened = undefined;
  }
}
