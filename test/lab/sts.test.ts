import { setTimeout as sleep } from 'node:timers/promises';
import type { AssumeRoleResponse, GetCallerIdentityResponse } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inCheckout } from './checkout.js';
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

  /** A call by the AWS SDK, in a process of the host; its error's name is in what is thrown. */
  const call = async <T>(env: Record<string, string>, command: string, input: object): Promise<T> => {
    const script = `
      import { STSClient, ${command}Command as Command } from '@aws-sdk/client-sts';
      const client = new STSClient({ maxAttempts: 1, requestHandler: { requestTimeout: 1500, throwOnRequestTimeout: true } });
      console.log(JSON.stringify(await client.send(new Command(JSON.parse(process.argv[1])))));`;
    const args = ['--input-type=module', '--eval', script, JSON.stringify(input)];
    const options = { env: { ...sts.environment(), ...env }, cwd: inCheckout('.') };
    return JSON.parse(await lab.host.runWith(options, process.execPath, ...args)) as T;
  };
  const assume = (env: Record<string, string>, input: object = {}) =>
    call<AssumeRoleResponse>(env, 'AssumeRole', { RoleArn: role, RoleSessionName: 'test', ...input });
  const keysOf = ({ Credentials: issued }: AssumeRoleResponse) =>
    keys({ id: issued?.AccessKeyId ?? '', secret: issued?.SecretAccessKey ?? '', token: issued?.SessionToken ?? '' });
  const identify = (env: Record<string, string>) => call<GetCallerIdentityResponse>(env, 'GetCallerIdentity', {});

  it("issues credentials for a role to the host's, and knows who calls with them", async () => {
    const session = await assume(keys(), { ExternalId: 'x1', Tags: [{ Key: 'team', Value: 'blue & green' }] });
    const life = Date.parse(String(session.Credentials?.Expiration)) - Date.now();
    expect(life).toBeGreaterThan(3590_000);
    expect(life).toBeLessThan(3601_000);
    expect(await identify(keysOf(session))).toMatchObject({ Arn: 'arn:aws:sts::123456789012:assumed-role/app/test' });
    const calls = await sts.calls();
    expect(calls).toMatchObject([
      { action: 'AssumeRole', status: 200, parameters: { ExternalId: 'x1', 'Tags.member.1.Value': 'blue & green' } },
      { action: 'GetCallerIdentity', status: 200 },
    ]);
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
    await expect(assume(keys(), { ExternalId: 'x1', DurationSeconds: 3601 })).rejects.toThrow('role chaining');
    await sts.allow(role);
    await expect(assume(keys())).resolves.toHaveProperty('Credentials');
  });

  it('lets a user ask for more than an hour, and for no more than the role allows', async () => {
    const user = { accessKeyId: 'AKIALABUSER000000001', secretAccessKey: 'user-secret', sessionToken: null };
    const arn = 'arn:aws:iam::123456789012:user/dev';
    await sts.know({ ...user, arn, userId: 'AIDALABUSER', account: '123456789012', expires: null });
    const { AWS_SESSION_TOKEN: _, ...env } = keys({ id: user.accessKeyId, secret: user.secretAccessKey });
    await sts.allow(role, { maxSeconds: 7200 });
    await expect(assume(env, { DurationSeconds: 7200 })).resolves.toHaveProperty('Credentials');
    await expect(assume(env, { DurationSeconds: 7201 })).rejects.toThrow('MaxSessionDuration');
    await sts.allow(role);
  });

  it('refuses credentials that it issued once they have expired', async () => {
    await sts.setLifetime(1);
    const session = await assume(keys());
    await sleep(1100);
    await expect(identify(keysOf(session))).rejects.toThrow('ExpiredToken');
  });

  it('fails and hangs when told to, and is not there once stopped', async () => {
    await sts.fail({ kind: 'error', key: 'AssumeRole', times: 1 });
    await expect(assume(keys())).rejects.toThrow('InternalFailure');
    await sts.fail({ kind: 'hang' });
    await expect(assume(keys())).rejects.toThrow('TimeoutError');
    expect((await sts.calls()).map(({ status }) => status)).toEqual([500, 0]);
    await sts.stop();
    await expect(assume(keys())).rejects.toThrow('ECONNREFUSED');
  });
});
