/** Every way in which a request can fail: the HTTP status and the title of its problem document (RFC 9457). */
export const errorTable = {
  'invalid-request': { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A bearer token is needed' },
  'not-found': { status: 404, title: 'There is nothing at this path' },
  'task-not-found': { status: 404, title: 'The task has no network' },
  'method-not-allowed': { status: 405, title: 'The path does not take this method' },
  'payload-too-large': { status: 413, title: 'The body is larger than 64 KiB' },
  'unsupported-media-type': { status: 415, title: 'The body is not JSON' },
  'task-exists': { status: 409, title: 'The task has a network made from another request' },
  'eni-in-use': { status: 409, title: 'The ENI serves another task' },
  'sandbox-in-use': { status: 409, title: 'The sandbox serves another task' },
  'primary-eni': { status: 409, title: "The ENI is the host's own interface" },
  busy: { status: 409, title: 'Another operation on the task is under way', retryAfterSeconds: 1 },
  cancelled: { status: 409, title: 'The attach was cancelled by a DELETE' },
  'containers-joined': { status: 409, title: 'Containers are still joined to the sandbox' },
  'unusable-sandbox': { status: 422, title: 'The sandbox cannot hold a task' },
  'unusable-eni': { status: 422, title: 'The ENI cannot be attached as asked' },
  'credentials-refused': { status: 422, title: 'The role was refused' },
  'credentials-timeout': { status: 504, title: 'STS did not answer', retryAfterSeconds: 5 },
  'address-pool-exhausted': { status: 503, title: 'No link-local address is free', retryAfterSeconds: 10 },
  'docker-unavailable': { status: 503, title: 'The Docker engine does not answer', retryAfterSeconds: 5 },
  'shutting-down': { status: 503, title: 'The service is stopping', retryAfterSeconds: 5 },
  'eni-timeout': { status: 504, title: 'The ENI did not appear in time', retryAfterSeconds: 5 },
  'metadata-timeout': { status: 504, title: 'Instance metadata did not have the ENI in time', retryAfterSeconds: 5 },
  'step-failed': { status: 500, title: 'A step of the plan failed' },
  internal: { status: 500, title: 'The service failed' },
} as const satisfies Record<string, { status: number; title: string; retryAfterSeconds?: number }>;

export type ErrorCode = keyof typeof errorTable;

/** A field that is not as it must be; `path` is a JSON path such as `eni.macAddress`. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export interface ErrorContext {
  readonly taskId?: string | undefined;
  readonly step?: string | undefined;
  readonly fields?: readonly FieldError[] | undefined;
  readonly cause?: unknown;
}

/** What a caller is told; `detail` is a sentence about this one case and never holds a secret. */
export class TaskEniError extends Error {
  override readonly name = 'TaskEniError';
  readonly taskId: string | undefined;
  readonly step: string | undefined;
  readonly fields: readonly FieldError[];

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    context: ErrorContext = {},
  ) {
    super(detail, context.cause === undefined ? undefined : { cause: context.cause });
    this.taskId = context.taskId;
    this.step = context.step;
    this.fields = context.fields ?? [];
  }

  /** The same error with what the catcher knows and the thrower did not. */
  at(context: { taskId?: string; step?: string }): TaskEniError {
    return new TaskEniError(this.code, this.detail, {
      taskId: this.taskId ?? context.taskId,
      step: this.step ?? context.step,
      fields: this.fields,
      cause: this.cause,
    });
  }
}

/** One line that says what was thrown, whatever was thrown. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message;
  return String(error);
}
