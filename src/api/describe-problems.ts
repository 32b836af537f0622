import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { type ErrorCode, TaskEniError, errorTable } from '../errors.js';
import { toProblem } from './problem.js';
import { ProblemDto } from './problem.dto.js';

/** What any operation behind the token may answer. */
const everywhere: readonly ErrorCode[] = ['invalid-request', 'unauthorized', 'internal'];

/** One case of a code, for the documents. */
const cases: Partial<Record<ErrorCode, ConstructorParameters<typeof TaskEniError>>> = {
  'invalid-request': [
    'invalid-request',
    'eni.mtu must be a whole number from 1280 to 9216',
    { fields: [{ path: 'eni.mtu', message: 'must be a whole number from 1280 to 9216' }] },
  ],
  'task-not-found': ['task-not-found', 'web-1 has no network', { taskId: 'web-1' }],
  'eni-in-use': ['eni-in-use', 'the ENI serves the task web-2', { taskId: 'web-1' }],
  'step-failed': ['step-failed', 'RTM_NEWLINK: EBUSY', { taskId: 'web-1', step: 'move-eni' }],
};

/** Describes the problem documents of an operation: one response for each status, an example for each code. */
export function Problems(...codes: readonly ErrorCode[]): MethodDecorator {
  const all = [...new Set([...everywhere, ...codes])];
  const statuses = new Set(all.map((code) => errorTable[code].status));
  const responses = [...statuses].map((status) =>
    ApiResponse({ status, ...describe(all.filter((code) => errorTable[code].status === status)) }),
  );
  return applyDecorators(ApiExtraModels(ProblemDto), ...responses);
}

function describe(codes: readonly ErrorCode[]) {
  const retryAfter = codes.some((code) => 'retryAfterSeconds' in errorTable[code]);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].title}`).join('. '),
    headers: {
      ...(retryAfter && { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const } } }),
      ...(codes.includes('unauthorized') && {
        'WWW-Authenticate': { description: 'Bearer.', schema: { type: 'string' as const } },
      }),
    },
    content: {
      'application/problem+json': {
        schema: { $ref: getSchemaPath(ProblemDto) },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ErrorCode) {
  const [, detail, context] = cases[code] ?? [code, errorTable[code].title, {}];
  return toProblem(new TaskEniError(code, detail, context));
}
