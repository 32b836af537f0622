import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { TaskEniError } from '../../src/errors.js';
import { account, hostRole } from '../lab/credentials.js';
import type { TaskNamespace } from './bridge-world.js';
import { fetchIn } from './fetching.js';
import { LabSts } from './lab-sts.js';
import { RunningCredentials } from './running-credentials.js';

describe("a task's role", () => {
  let labSts: LabSts;
  let running: RunningCredentials;
  let task: TaskNamespace;
  const hash = 'hash';

  beforeAll(async () => {
    labSts = await LabSts.start();
    running = await RunningCredentials.start();
    task = await running.world.addTask();
  });
  afterAll(async () => {
    await running.stop();
    await labSts.stop();
  });
  beforeEach(async () => {
    const { accessKeyId, secretAccessKey, token } = hostRole.credentials;
    labSts.useKeys({ accessKeyId, secretAccessKey, sessionToken: token });
    await labSts.sts.heal();
    await labSts.sts.setLifetime(null);
    await labSts.sts.resetCalls();
    running.restart();
  });
  afterEach(() => running.credentials.unregister(hash));

  const holder = () => ({ taskId: 'web:1' as TaskId, hash, id: 'id-of-web', address: task.address });
  const register = (...role: Parameters<RunningCredentials['role']>) =>
    running.credentials.register({ ...holder(), credentials: running.role(...role) });
  const fetch = (count = 1) => fetchIn(task, '/v2/credentials/id-of-web', { count, parallel: count });
  const calls = async () => (await labSts.sts.calls()).filter(({ action }) => action === 'AssumeRole');
  async function refusal(...role: Parameters<RunningCredentials['role']>): Promise<TaskEniError> {
    const error: unknown = await register(...role).catch((thrown: unknown) => thrown);
    if (error instanceof TaskEniError) return error;
    throw new Error('the role was not refused', { cause: error });
  }

  it('is assumed as the request says', async () => {
    await register('app', {
      externalId: 'x1',
      sessionName: 'named',
      durationSeconds: 900,
      tags: { team: 'blue & green' },
    });
    expect((await calls()).map(({ parameters }) => parameters)).toMatchObject([
      {
        RoleArn: `arn:aws:iam::${account}:role/app`,
        RoleSessionName: 'named',
        DurationSeconds: '900',
        ExternalId: 'x1',
        'Tags.member.1.Key': 'team',
        'Tags.member.1.Value': 'blue & green',
      },
    ]);
    const body = JSON.parse((await fetch()).body) as Record<string, string>;
    expect(body['RoleArn']).toBe(`arn:aws:iam::${account}:role/app`);
    expect(body['Expiration']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(running.credentials.expiration(hash)).toBe(Date.parse(body['Expiration'] ?? ''));
    expect(running.outcomes).toEqual(['success']);
  });

  it('has the name of the task when the request gives none', async () => {
    await register('app');
    expect((await calls())[0]?.parameters).toMatchObject({ RoleSessionName: 'web-1' });
  });

  it("that STS refuses is refused with the cause, and the id is nobody's", async () => {
    await labSts.sts.refuse(`arn:aws:iam::${account}:role/secret`);
    const error = await refusal('secret');
    expect(error).toMatchObject({ code: 'credentials-refused', taskId: 'web:1' });
    expect(error.detail).toContain(
      'AccessDenied: User: arn:aws:sts::123456789012:assumed-role/task-eni-host/i-lab is not authorized',
    );
    expect(error.cause).toBeUndefined();
    expect((await fetch()).codes).toEqual({ 400: 1 });
    expect(running.outcomes).toEqual(['refused']);
  });

  it('is refused when the host has keys that STS does not know, or none', async () => {
    labSts.useKeys({ accessKeyId: 'ASIAUNKNOWN000000000', secretAccessKey: 'x', sessionToken: 'y' });
    expect(await refusal('app')).toMatchObject({
      code: 'credentials-refused',
      detail: expect.stringContaining('InvalidClientTokenId'),
    });
    labSts.useKeys({ accessKeyId: '', secretAccessKey: '' });
    running.restart();
    expect(await refusal('app')).toMatchObject({
      code: 'credentials-refused',
      detail: expect.stringContaining('the host has no credentials'),
    });
  });

  it('for more than an hour is refused to a host that is a role itself, and granted to a user', async () => {
    const error = await refusal('app', { durationSeconds: 7200 });
    expect(error.code).toBe('credentials-refused');
    expect(error.detail).toMatch(/durationSeconds above 3600 .*assumed-role\/task-eni-host\/i-lab.*role chaining/);
    expect(await calls()).toEqual([]);
    const user = { accessKeyId: 'AKIALABUSER000000001', secretAccessKey: 'user-secret' };
    const arn = `arn:aws:iam::${account}:user/dev`;
    await labSts.sts.know({ ...user, sessionToken: null, arn, userId: 'AIDA', account, expires: null });
    labSts.useKeys(user);
    running.restart();
    await register('app', { durationSeconds: 7200 });
    expect((running.credentials.expiration(hash) ?? 0) - Date.now()).toBeGreaterThan(7100_000);
  });

  it('fails in time while STS is broken', { timeout: 40_000 }, async () => {
    await labSts.sts.fail({ kind: 'error' });
    expect(await refusal('app')).toMatchObject({ code: 'credentials-timeout', detail: expect.stringContaining('500') });
    await labSts.sts.heal();
    await labSts.sts.fail({ kind: 'hang' });
    const begun = performance.now();
    expect((await refusal('app')).code).toBe('credentials-timeout');
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(running.outcomes.every((outcome) => outcome === 'timeout')).toBe(true);
  });

  it('is refreshed before it ends, at the same path, by one request of STS however many fetch', async () => {
    await labSts.sts.setLifetime(6);
    await register('app');
    const first = JSON.parse((await fetch()).body) as { Expiration: string; Token: string };
    await delay(3000);
    const { codes } = await fetch(50);
    expect(codes).toEqual({ 200: 50 });
    await expect.poll(async () => (await calls()).length, { timeout: 3000 }).toBe(2);
    const later = JSON.parse((await fetch()).body) as { Expiration: string; Token: string };
    expect(Date.parse(later.Expiration)).toBeGreaterThan(Date.parse(first.Expiration));
    expect(later.Token).not.toBe(first.Token);
  });

  it('is served while it lives although STS is away, 503 after, and again when STS is back', async () => {
    // STS tells the end in whole seconds, so that a life of four may be one of three.
    await labSts.sts.setLifetime(4);
    await register('app');
    await labSts.sts.fail({ kind: 'error' });
    await delay(2200);
    expect((await fetch()).codes).toEqual({ 200: 1 });
    await delay(2200);
    const expired = await fetch();
    expect(expired.codes).toEqual({ 503: 1 });
    expect(expired.retryAfters).toEqual(['1']);
    await labSts.sts.heal();
    await labSts.sts.setLifetime(null);
    await expect.poll(async () => (await fetch()).codes, { timeout: 15_000, interval: 500 }).toEqual({ 200: 1 });
    expect(running.outcomes).toContain('timeout');
  });

  it('is asked for no more, and fetched no more, once the task is gone', async () => {
    await labSts.sts.setLifetime(2);
    await register('app');
    await running.credentials.unregister(hash);
    expect((await fetch()).codes).toEqual({ 400: 1 });
    await delay(4000);
    expect(await calls()).toHaveLength(1);
  });

  it('is known at once after a restart, and there again soon', async () => {
    await labSts.sts.fail({ kind: 'delay', milliseconds: 1500 });
    running.credentials.adopt({ ...holder(), credentials: running.role('app') });
    expect((await fetch()).codes).toEqual({ 503: 1 });
    await expect.poll(async () => (await fetch()).codes, { timeout: 5000 }).toEqual({ 200: 1 });
    expect(await calls()).toHaveLength(1);
  });

  it('is never in the log, whose every level is on, in the audit log or in an error', () => {
    const { secretAccessKey, token } = hostRole.credentials;
    const told = [running.log.join(''), JSON.stringify(running.auditLines()), JSON.stringify(running.reports)].join('');
    expect(told).toContain('credentials were not refreshed');
    for (const secret of [secretAccessKey, token, ...running.secrets]) expect(told).not.toContain(secret);
    expect(running.secrets.length).toBeGreaterThan(10);
  });
});
