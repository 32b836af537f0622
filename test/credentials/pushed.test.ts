import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PushedCredentials } from '../../src/attachments/request.js';
import type { TaskId } from '../../src/attachments/task-id.js';
import type { TaskNamespace } from './bridge-world.js';
import { fetchIn } from './fetching.js';
import { RunningCredentials } from './running-credentials.js';
import { credentialsFor, secret, token } from './running-server.js';

const pushed = (changes: Partial<PushedCredentials> = {}): PushedCredentials => ({
  source: 'pushed',
  ...credentialsFor('web'),
  ...changes,
});

describe('pushed credentials', () => {
  let running: RunningCredentials;
  let task: TaskNamespace;
  const hash = 'hash';

  beforeEach(async () => {
    running = await RunningCredentials.start();
    task = await running.world.addTask();
  });
  afterEach(() => running.stop());

  const holder = () => ({ taskId: 'web-1' as TaskId, hash, id: 'id-of-web', address: task.address });
  const register = (changes: Partial<PushedCredentials> = {}) =>
    running.credentials.register({ ...holder(), credentials: pushed(changes) });
  const fetch = () => fetchIn(task, '/v2/credentials/id-of-web');
  const kept = () => readdirSync(`${running.runDir}/credentials`);

  it('are served with their expiration in whole seconds, whatever came in', async () => {
    const expiration = Math.floor(Date.now() / 1000) * 1000 + 3_600_789;
    await register({ expiration });
    expect(JSON.parse((await fetch()).body)).toEqual({
      RoleArn: 'arn:aws:iam::123456789012:role/web',
      AccessKeyId: 'AKIDWEB',
      SecretAccessKey: secret,
      Token: token,
      Expiration: `${new Date(expiration).toISOString().slice(0, 19)}Z`,
    });
  });

  it('are 503 from the moment in which they expire, and served again when newer ones are pushed', async () => {
    await register({ expiration: Date.now() + 1500 });
    expect((await fetch()).codes).toEqual({ 200: 1 });
    await expect.poll(async () => (await fetch()).codes, { timeout: 4000 }).toEqual({ 503: 1 });
    await running.credentials.update(hash, pushed());
    expect((await fetch()).codes).toEqual({ 200: 1 });
  });

  it('are refused at the next fetch once they are taken away', async () => {
    await register();
    await running.credentials.clear(hash);
    const { codes, body } = await fetch();
    expect(codes).toEqual({ 400: 1 });
    expect(JSON.parse(body)).toMatchObject({ code: 'InvalidIdInRequest' });
    expect(kept()).toEqual([]);
    await running.credentials.update(hash, pushed());
    expect((await fetch()).codes).toEqual({ 200: 1 });
  });

  it('outlive the service in a file of their own on tmpfs, for root alone', async () => {
    await register();
    expect(kept()).toEqual(['hash.json']);
    expect(statSync(`${running.runDir}/credentials/hash.json`).mode & 0o777).toBe(0o600);
    expect(statSync(`${running.runDir}/credentials`).mode & 0o777).toBe(0o700);
    running.restart();
    running.credentials.adopt({ ...holder(), credentials: { source: 'pushed', roleArn: 'arn' } });
    await expect.poll(async () => (await fetch()).codes).toEqual({ 200: 1 });
    await running.credentials.unregister(hash);
    expect(kept()).toEqual([]);
  });

  it('are 503 after a restart that found none, until they are pushed again', async () => {
    await register();
    writeFileSync(`${running.runDir}/credentials/hash.json`, '{"torn');
    running.restart();
    running.credentials.adopt({ ...holder(), credentials: { source: 'pushed', roleArn: 'arn' } });
    const { codes, retryAfters } = await fetch();
    expect(codes).toEqual({ 503: 1 });
    expect(retryAfters).toEqual(['1']);
    await running.credentials.update(hash, pushed());
    expect((await fetch()).codes).toEqual({ 200: 1 });
  });

  it('of tasks that ended meanwhile are removed', async () => {
    await register();
    running.restart();
    await running.credentials.discardOthers();
    expect(kept()).toEqual([]);
  });

  it('are in no log', async () => {
    await register();
    await register({ sessionToken: '' }).catch(() => {});
    await fetch();
    const told = running.log.join('') + readFileSync(running.auditLog, 'utf8');
    expect(told).not.toContain(secret);
    expect(told).not.toContain(token);
  });
});
