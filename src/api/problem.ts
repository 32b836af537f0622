/** An error as the problem document that callers get (RFC 9457). */
import type { ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';
import { type ErrorCode, type FieldError, TaskEniError, errorTable } from '../errors.js';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly taskId?: string;
  readonly step?: string;
  readonly errors?: readonly FieldError[];
}

/** A name, not an address: nothing needs to be fetched to know the code (RFC 9457, section 3.1.1). */
export function problemType(code: ErrorCode): string {
  return `urn:task-eni:problem:${code}`;
}

export function toProblem(error: TaskEniError): Problem {
  const { status, title } = errorTable[error.code];
  return {
    type: problemType(error.code),
    title,
    status,
    detail: error.detail,
    code: error.code,
    ...(error.taskId !== undefined && { taskId: error.taskId }),
    ...(error.step !== undefined && { step: error.step }),
    ...(error.fields.length > 0 && { errors: error.fields }),
  };
}

/** The headers that go with the code besides the content type. */
export function problemHeaders(code: ErrorCode): Record<string, string> {
  const entry = errorTable[code];
  return {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...('retryAfterSeconds' in entry && { 'retry-after': String(entry.retryAfterSeconds) }),
    ...(code === 'unauthorized' && { 'www-authenticate': 'Bearer realm="task-eni"' }),
  };
}

/** Answers with the problem document; the response must not have begun. */
export function sendProblem(response: ServerResponse, error: TaskEniError, headers: Record<string, string> = {}): void {
  const problem = toProblem(error);
  response.writeHead(problem.status, { ...problemHeaders(error.code), ...headers });
  response.end(JSON.stringify(problem));
}

/** Whatever was thrown, as an error that callers may be told; undefined means a fault of the service. */
export function knownError(thrown: unknown): TaskEniError | undefined {
  if (thrown instanceof TaskEniError) return thrown;
  if (!(thrown instanceof HttpException)) return undefined;
  const status = thrown.getStatus();
  if (status === 404) return new TaskEniError('not-found', 'there is nothing at this path');
  if (status === 413) return new TaskEniError('payload-too-large', 'the body is larger than 65536 bytes');
  if (status === 415)
    return new TaskEniError('unsupported-media-type', 'the body must be application/json in UTF-8, not compressed');
  return status < 500 ? new TaskEniError('invalid-request', faultOfMessage(thrown.cause)) : undefined;
}

/** The messages of body-parser (its README, "Errors") quote the body, which may hold a secret; ours do not. */
function faultOfMessage(cause: unknown): string {
  if (cause instanceof URIError) return 'the path is not percent-encoded as it must be';
  if (cause instanceof SyntaxError) return 'the body is not a JSON object';
  return 'the body did not arrive whole';
}
