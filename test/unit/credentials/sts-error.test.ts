import { describe, expect, it } from 'vitest';
import { classifyStsError } from '../../../src/credentials/sts-error.js';

const answered = (name: string, httpStatusCode: number, message = 'the message') =>
  Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });

describe('a failed call of STS', () => {
  it.each(['AccessDenied', 'ValidationError', 'MalformedPolicyDocument', 'PackedPolicyTooLarge', 'ExpiredToken'])(
    'is a refusal with its words when it is %s',
    (name) => expect(classifyStsError(answered(name, 400))).toEqual({ kind: 'refused', cause: `${name}: the message` }),
  );

  it('is a refusal by name alone when its words quote the signed headers', () => {
    const message = "The Canonical String should have been 'POST\nx-amz-security-token:HUSH'";
    const failure = classifyStsError(answered('SignatureDoesNotMatch', 403, message));
    expect(failure).toEqual({ kind: 'refused', cause: 'SignatureDoesNotMatch' });
  });

  it.each([
    ['InternalFailure', 500],
    ['ServiceUnavailable', 503],
    ['Throttling', 400],
    ['ThrottlingException', 400],
    ['RequestLimitExceeded', 400],
    ['Whatever', 429],
  ])('is no answer when it is %s with %i', (name, status) => {
    expect(classifyStsError(answered(name, status))).toEqual({ kind: 'timeout', cause: `${name} (${status})` });
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET'])('is no answer when the connection ended in %s', (code) => {
    expect(classifyStsError(Object.assign(new Error('x'), { code }))).toEqual({ kind: 'timeout', cause: code });
  });

  it('is no answer when time was up', () => {
    expect(classifyStsError(new DOMException('x', 'TimeoutError'))).toEqual({
      kind: 'timeout',
      cause: 'no answer in time',
    });
    expect(classifyStsError(new DOMException('x', 'AbortError'))).toEqual({
      kind: 'timeout',
      cause: 'no answer in time',
    });
  });

  it('says what the host lacks', () => {
    const none = Object.assign(new Error('HUSH'), { name: 'CredentialsProviderError' });
    expect(classifyStsError(none)).toEqual({
      kind: 'refused',
      cause: 'the host has no credentials of its own to assume it with',
    });
    expect(classifyStsError(new Error('Region is missing')).cause).toContain('AWS_REGION');
  });

  it('is told in one line of bounded length', () => {
    const { cause } = classifyStsError(answered('AccessDenied', 403, `a\nb${'x'.repeat(5000)}`));
    expect(cause).toMatch(/^AccessDenied: a b/);
    expect(cause.length).toBeLessThan(500);
  });

  it.each([undefined, null, 'text', 7])('is no answer when %s was thrown', (thrown) => {
    expect(classifyStsError(thrown).kind).toBe('timeout');
  });
});
