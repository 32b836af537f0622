import {
  BadRequestException,
  InternalServerErrorException,
  NotFoundException,
  PayloadTooLargeException,
} from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { knownError, problemHeaders, toProblem } from '../../../src/api/problem.js';
import { type ErrorCode, TaskEniError, errorTable } from '../../../src/errors.js';

describe('a problem document', () => {
  it('says what kind of error, at which task and step, and which fields', () => {
    const fields = [{ path: 'eni.mtu', message: 'must be less' }];
    const error = new TaskEniError('step-failed', 'EBUSY', { taskId: 'web-1', step: 'move-eni', fields });
    expect(toProblem(error)).toEqual({
      type: 'urn:task-eni:problem:step-failed',
      title: errorTable['step-failed'].title,
      status: 500,
      detail: 'EBUSY',
      code: 'step-failed',
      taskId: 'web-1',
      step: 'move-eni',
      errors: fields,
    });
  });

  it('leaves out what does not apply', () => {
    const keys = Object.keys(toProblem(new TaskEniError('not-found', 'nothing')));
    expect(keys).toEqual(['type', 'title', 'status', 'detail', 'code']);
  });

  it.each(Object.keys(errorTable) as ErrorCode[])(
    'of %s tells when to try again exactly when that may help',
    (code) => {
      const retries = [503, 504].includes(errorTable[code].status) || code === 'busy';
      expect('retry-after' in problemHeaders(code)).toBe(retries);
    },
  );

  it('of a missing token says how to authenticate', () => {
    expect(problemHeaders('unauthorized')['www-authenticate']).toMatch(/^Bearer/);
  });
});

describe('what was thrown', () => {
  it.each([
    [new NotFoundException(), 'not-found'],
    [new PayloadTooLargeException(), 'payload-too-large'],
    [new BadRequestException('x', { cause: new SyntaxError('x') }), 'invalid-request'],
    [new BadRequestException('x', { cause: new URIError('x') }), 'invalid-request'],
  ])('%s is known', (thrown, code) => {
    expect(knownError(thrown)?.code).toBe(code);
  });

  it('keeps the body out of the answer though the parser quotes it', () => {
    const cause = new SyntaxError('Unexpected token in "secretAccessKey..."');
    expect(knownError(new BadRequestException(cause.message, { cause }))?.detail).toBe('the body is not a JSON object');
  });

  it.each([new Error('x'), new TypeError('x'), 'text', undefined, null, new InternalServerErrorException()])(
    '%s is a fault of the service',
    (thrown) => {
      expect(knownError(thrown)).toBeUndefined();
    },
  );
});
