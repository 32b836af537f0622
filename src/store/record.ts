import type { AttachRequest, CredentialsIdentity } from '../attachments/request.js';
import type { TaskId } from '../attachments/task-id.js';
import type { ErrorCode } from '../errors.js';
import type { Ipv4, Ipv4Cidr, Ipv6, Ipv6Cidr } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import type { Step, StepKind, StepOutcome } from '../steps/step.js';

/** Raised whenever a field changes its meaning; a file of a later version is set aside, never guessed at. */
export const recordVersion = 1;

export type State = 'PENDING' | 'ATTACHING' | 'READY' | 'DETACHING' | 'FAILED' | 'LOST' | 'DETACHED';

/** The request as it may be kept: without the secrets of pushed credentials. */
export type StoredRequest = Omit<AttachRequest, 'credentials'> & { readonly credentials: CredentialsIdentity | null };

/** The sandbox once it exists. */
export interface SandboxRecord {
  readonly kind: 'docker' | 'pid' | 'netns';
  readonly owned: boolean;
  readonly containerId: string | null;
  readonly pid: number | null;
  /** Path by which its namespace can be opened while it lives. */
  readonly netns: string;
  /** SO_NETNS_COOKIE of the namespace, as decimal text (64 bits do not fit a JSON number). */
  readonly cookie: string;
}

/** What tells a link from others whatever the task made of its name, address and mark. */
export interface EniDevice {
  readonly index: number;
  /** IFLA_INFO_KIND; null: a physical link. */
  readonly kind: string | null;
  readonly peerIndex: number | null;
  readonly permanentMac: Mac | null;
}

export interface EniRecord {
  readonly id: string | null;
  readonly mac: Mac;
  readonly interface: string;
  /** The link's name in the host's namespace: before the attach, and after a detach where it is now. */
  readonly hostInterface: string;
  /** What the link is, as it was seen in the task's namespace; null before the move. */
  readonly device: EniDevice | null;
  readonly ipv4: Ipv4Cidr | null;
  readonly ipv4Gateway: Ipv4 | null;
  readonly ipv6: Ipv6Cidr | null;
  readonly ipv6Gateway: Ipv6 | null;
  readonly mtu: number | null;
}

export interface RecordedError {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly step: string | null;
}

/** One task's network: what was asked, what is planned, what was done. Nothing in it is secret. */
export interface AttachmentRecord {
  readonly version: typeof recordVersion;
  readonly taskId: TaskId;
  readonly hash: string;
  readonly bootId: string;
  readonly instanceId: string | null;
  readonly state: State;
  readonly request: StoredRequest;
  readonly eni: EniRecord | null;
  readonly sandbox: SandboxRecord | null;
  readonly linkLocal: { readonly port: string; readonly interface: string; readonly address: Ipv4 } | null;
  /** Where the credentials come from now: as the request says, or as a later PUT said; null: none, or deleted. */
  readonly credentials: CredentialsIdentity | null;
  readonly credentialsId: string | null;
  readonly region: string | null;
  readonly plan: readonly Step[];
  readonly outcomes: readonly StepOutcome[];
  /** Steps whose undo failed: their traces are still on the host, and the undo is tried again. */
  readonly undoPending: readonly StepKind[];
  readonly warnings: readonly string[];
  readonly error: RecordedError | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly readyAt: number | null;
  readonly endedAt: number | null;
}
