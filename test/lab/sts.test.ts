import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostRole } from './credentials.js';
import { Lab } from './lab.js';
import { Sts } from './sts.js';

const role = 'arn:aws:iam::123456789012:role/app';

describe('the STS of a lab', () => {
  let lab: Lab;
  let sts: Sts;
  beforeAll(async () => {
    lab = await Lab.create({ ipv6: false });
    sts = await Sts.start(lab);
  });
  afterAll(() => lab.destroy());
  beforeEach(async () => {
    await sts.heal();
    await sts.setLifetime(null);
    await sts.resetCalls();
  });

  const keys = (changes: Partial<Record<'id' | 'secret' | 'token', string>> = {}) => ({
    AWS_ACCESS_KEY_ID: changes.id ?? hostRole.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: changes.secret ?? hostRole.credentials.secretAccessKey,
    AWS_SESSION_TOKEN: changes.token ?? hostRole.credentials.token,
  });
  const aws = async (env: Record<string, string>, ...args: string[]) => {
    const text = await lab.host.runWith(
      { env: { ...sts.environment(), AWS_MAX_ATTEMPTS: '1', ...env } },
      'aws',
      'sts',
      ...args,
      `--endpoint-url=${sts.url}`,
      '--cli-read-timeout=3',
    );
    return JSON.parse(text) as Record<string, Record<string, string>>;
  };
  const assume = (env: Record<string, string>, ...more: string[]) =>
    aws(env, 'assume-role', '--role-arn', role, '--role-session-name', 'test', ...more);

  it("issues credentials for a role to the host's, and knows who calls with them", async () => {
    const { Credentials: issued } = await assume(
      keys(),
      '--external-id',
      'x1',
      '--tags',
      'Key=team,Value=blue & green',
    );
    const env = keys({
      id: issued?.['AccessKeyId'],
      secret: issued?.['SecretAccessKey'],
      token: issued?.['SessionToken'],
    } as object);
    const identity = await aws(env, 'get-caller-identity');
    expect(identity['Arn']).toBe('arn:aws:sts::123456789012:assumed-role/app/test');
    const calls = await sts.calls();
    expect(calls.map((call) => [call.action, call.status])).toEqual([
      ['AssumeRole', 200],
      ['GetCallerIdentity', 200],
    ]);
    expect(calls[0]?.parameters).toMatchObject({ ExternalId: 'x1', 'Tags.member.1.Value': 'blue & green' });
  });

  it.each([
    ['another secret', { secret: 'wrong' }, 'SignatureDoesNotMatch'],
    ['another session token', { token: 'wrong' }, 'InvalidClientTokenId'],
    ['an unknown key', { id: 'ASIAUNKNOWN000000000' }, 'InvalidClientTokenId'],
  ])('refuses a caller with %s', async (_, changes, code) => {
    await expect(assume(keys(changes))).rejects.toThrow(code);
    expect((await sts.calls())[0]).toMatchObject({ status: 403, code, arn: null });
  });

  it('refuses a role when told to, a missing external id, and more than an hour by role chaining', async () => {
    await sts.refuse(role);
    await expect(assume(keys())).rejects.toThrow('AccessDenied');
    await sts.allow(role, { externalId: 'x1' });
    await expect(assume(keys())).rejects.toThrow('AccessDenied');
    await expect(assume(keys(), '--external-id', 'x1', '--duration-seconds', '3601')).rejects.toThrow('role chaining');
    await sts.allow(role);
    await expect(assume(keys())).resolves.toHaveProperty('Credentials');
  });

  it('refuses credentials that it issued once they have expired', async () => {
    await sts.setLifetime(1);
    const { Credentials: issued } = await assume(keys());
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const env = keys({
      id: issued?.['AccessKeyId'],
      secret: issued?.['SecretAccessKey'],
      token: issued?.['SessionToken'],
    } as object);
    await expect(aws(env, 'get-caller-identity')).rejects.toThrow('ExpiredToken');
  });

  it('fails and hangs when told to', async () => {
    await sts.fail({ kind: 'error', key: 'AssumeRole', times: 1 });
    await expect(assume(keys())).rejects.toThrow('InternalFailure');
    await sts.fail({ kind: 'hang' });
    await expect(assume(keys())).rejects.toThrow(/[Tt]imeout/);
    expect((await sts.calls()).map((call) => call.status)).toEqual([500, 0]);
  });
});
