import { describe, expect, it } from 'vitest';
import { type CredentialsDto, credentialsClass } from '../../../src/api/credentials.dto.js';
import { credentialsExamples } from '../../../src/api/examples.js';
import { checkInput } from '../../../src/api/input.pipe.js';
import { toCredentials } from '../../../src/api/to-request.js';
import { TaskEniError } from '../../../src/errors.js';

const assumed = { source: 'assume-role', roleArn: 'arn:aws:iam::123456789012:role/app' };
const pushed = credentialsExamples.pushed.value;

function check(body: unknown) {
  return toCredentials(checkInput<CredentialsDto>(body, credentialsClass));
}

function refusal(body: unknown): TaskEniError {
  try {
    check(body);
  } catch (error) {
    if (error instanceof TaskEniError) return error;
    throw error;
  }
  throw new Error('the body was taken');
}

describe('credentials', () => {
  it('of a role get the default duration and nothing else', () => {
    expect(check(assumed)).toEqual({
      ...assumed,
      sessionName: null,
      durationSeconds: 3600,
      externalId: null,
      tags: {},
    });
  });

  it('that are pushed keep their parts, the end as a number', () => {
    expect(check(pushed)).toEqual({ ...pushed, expiration: Date.parse('2030-11-30T12:00:00Z') });
  });

  it.each([
    [{}, 'source'],
    [{ ...assumed, source: 'static' }, 'source'],
    [{ ...assumed, roleArn: 'arn:aws:iam::12345:role/app' }, 'roleArn'],
    [{ ...assumed, roleArn: 'arn:aws:iam::123456789012:user/app' }, 'roleArn'],
    [{ ...assumed, roleArn: `arn:aws:iam::123456789012:role/app\n` }, 'roleArn'],
    [{ ...assumed, durationSeconds: 899 }, 'durationSeconds'],
    [{ ...assumed, durationSeconds: 43201 }, 'durationSeconds'],
    [{ ...assumed, sessionName: 'a' }, 'sessionName'],
    [{ ...assumed, externalId: 'a b' }, 'externalId'],
    [{ ...assumed, tags: { 'aws:x': 'y' } }, 'tags'],
    [{ ...assumed, tags: { x: 'y'.repeat(257) } }, 'tags'],
    [{ ...assumed, accessKeyId: pushed.accessKeyId }, 'accessKeyId'],
    [{ ...pushed, durationSeconds: 3600 }, 'durationSeconds'],
    [{ ...pushed, sessionToken: undefined }, 'sessionToken'],
    [{ ...pushed, sessionToken: '' }, 'sessionToken'],
    [{ ...pushed, secretAccessKey: 'with blank' }, 'secretAccessKey'],
    [{ ...pushed, accessKeyId: 'short' }, 'accessKeyId'],
    [{ ...pushed, expiration: '2030-11-30' }, 'expiration'],
    [{ ...pushed, expiration: 1_900_000_000 }, 'expiration'],
  ])('%j are refused for %s', (body, path) => {
    expect(refusal(body).fields.map((field) => field.path)).toContain(path);
  });

  it('that are refused are not repeated in the error', () => {
    const secret = 'sEcReT with a blank';
    const error = refusal({ ...pushed, secretAccessKey: secret, sessionToken: secret, expiration: secret });
    expect(JSON.stringify([error.message, error.fields])).not.toContain('sEcReT');
  });
});
