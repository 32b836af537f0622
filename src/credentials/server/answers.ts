/** Every answer of the endpoint but the credentials themselves, as the ECS agent words them. Pure. */
import type { AnsweredCode } from './report.js';
import type { Api } from './target.js';

export interface Answer {
  readonly status: AnsweredCode;
  readonly body: string;
  /** Names and values in turn, as `writeHead` takes them. */
  readonly headers: readonly string[];
}

export function answer(status: AnsweredCode, body: string, ...more: readonly string[]): Answer {
  const length = String(Buffer.byteLength(body));
  const headers = ['Content-Type', 'application/json', 'Cache-Control', 'no-store', 'Content-Length', length, ...more];
  return { status, body, headers };
}

function refusal(status: AnsweredCode, code: string, message: string, ...more: readonly string[]): Answer {
  return answer(status, JSON.stringify({ code, message, HTTPErrorCode: status }), ...more);
}

/** Seconds after which a client may ask again for credentials that are not there yet. */
const retrySeconds = 1;

function refusalsOf(api: Api) {
  const prefix = `Credentials${api}Request: `;
  return {
    noId: refusal(400, 'NoIdInRequest', `${prefix}No Credential ID in the request`),
    unknownId: refusal(400, 'InvalidIdInRequest', `${prefix}Credentials not found`),
    notYours: refusal(403, 'AccessDenied', `${prefix}The credentials belong to another task`),
    method: refusal(405, 'MethodNotAllowed', `${prefix}Only GET is served`, 'Allow', 'GET', 'Connection', 'close'),
    uninitialized: refusal(
      503,
      'CredentialsUninitialized',
      `${prefix}Credentials uninitialized for ID`,
      'Retry-After',
      String(retrySeconds),
    ),
    throttled: (seconds: number) =>
      refusal(
        429,
        'TooManyRequests',
        `${prefix}You have reached maximum request limit`,
        'Retry-After',
        String(seconds),
      ),
  };
}

export const refusals = { V1: refusalsOf('V1'), V2: refusalsOf('V2') } as const;

export const nothingHere = refusal(404, 'NotFound', 'There is nothing at this path');

/** Answers to what is not HTTP, comes too slowly or has too long a head. */
export const malformed = {
  400: refusal(400, 'BadRequest', 'The request is not HTTP', 'Connection', 'close'),
  408: refusal(408, 'RequestTimeout', 'The request did not come in time', 'Connection', 'close'),
  431: refusal(431, 'HeadersTooLarge', 'The head of the request is too long', 'Connection', 'close'),
} as const;
