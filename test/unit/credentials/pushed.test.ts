import { describe, expect, it } from 'vitest';
import type { PushedCredentials } from '../../../src/attachments/request.js';
import { formatStored, parseStored, pushedCredentials } from '../../../src/credentials/pushed.js';
import { TaskEniError } from '../../../src/errors.js';

const pushed: PushedCredentials = {
  source: 'pushed',
  roleArn: 'arn:aws:iam::123456789012:role/app',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'SECRET',
  sessionToken: 'TOKEN',
  expiration: Date.UTC(2026, 10, 30),
};

function refusal(change: object): TaskEniError {
  try {
    pushedCredentials({ ...pushed, ...change }, 'web-1');
  } catch (error) {
    if (error instanceof TaskEniError) return error;
  }
  throw new Error('it was not refused');
}

describe('pushed credentials', () => {
  it.each(['roleArn', 'accessKeyId', 'secretAccessKey', 'sessionToken'])('are refused without %s', (name) => {
    for (const value of ['', undefined, null, 7]) {
      const error = refusal({ [name]: value });
      expect(error.code).toBe('invalid-request');
      expect(error.fields.map(({ path }) => path)).toEqual([`credentials.${name}`]);
      expect(JSON.stringify({ ...error, message: error.message })).not.toMatch(/SECRET|TOKEN/);
    }
  });

  it.each([Number.NaN, undefined, -1, Infinity, Date.UTC(12_000, 0), '2026'])(
    'are refused with %s for a time',
    (expiration) => {
      expect(refusal({ expiration }).fields.map(({ path }) => path)).toEqual(['credentials.expiration']);
    },
  );

  it('name every part that is missing', () => {
    expect(refusal({ accessKeyId: '', sessionToken: '' }).fields).toHaveLength(2);
  });

  it('are taken when they have expired: the clock of who pushed them may be another', () => {
    expect(pushedCredentials({ ...pushed, expiration: 0 }, 'web-1').expiration).toBe(0);
  });

  it('are the same after they were stored', () => {
    const credentials = pushedCredentials(pushed, 'web-1');
    expect(parseStored(formatStored(credentials))).toEqual(credentials);
  });

  it.each(['', '{', 'null', '[]', '{"roleArn":"x"}', '7'])('are not read from %j', (text) => {
    expect(parseStored(text)).toBeUndefined();
  });
});
