import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../lab/command.js';
import { BridgeWorld, type TaskNamespace } from './bridge-world.js';
import { fetchIn } from './fetching.js';
import { RunningServer, entryFor, secret } from './running-server.js';

describe('the audit log', () => {
  let running: RunningServer;
  let task: TaskNamespace;

  beforeEach(async () => {
    running = await RunningServer.start({ rate: { perSecond: 10_000, burst: 10_000 } });
    task = await running.world.addTask();
    await running.server.put(entryFor(task, 'web'));
  });
  afterEach(() => running.stop());

  const fetch = (path = '/v2/credentials/id-of-web', how: Parameters<typeof fetchIn>[2] = {}) =>
    fetchIn(task, path, how);

  it('has a line for each request, whatever became of it', async () => {
    await fetch('/v2/credentials/id-of-web?secret=1', { headers: { 'User-Agent': 'aws-cli/2.9 "quoted"' } });
    await fetch('/v1/credentials?id=nobody');
    await fetch('/v2/metadata');
    await fetch('/v2/credentials/id-of-web', { method: 'POST' });
    await expect.poll(() => running.auditLines()).toHaveLength(4);
    const [first, ...others] = running.auditLines();
    expect(Object.keys(first ?? {})).toEqual([
      'time',
      'code',
      'source',
      'path',
      'userAgent',
      'taskId',
      'eventType',
      'version',
    ]);
    expect(first).toMatchObject({
      code: 200,
      path: '/v2/credentials',
      userAgent: 'aws-cli/2.9 "quoted"',
      taskId: 'web',
      eventType: 'GetCredentials',
      version: 1,
    });
    expect(first?.['source']).toMatch(new RegExp(`^${task.address}:\\d+$`));
    expect(Math.abs(Date.parse(String(first?.['time'])) - Date.now())).toBeLessThan(10_000);
    expect(others.map(({ code }) => code)).toEqual([400, 404, 405]);
    expect(readFileSync(running.auditLog, 'utf8')).not.toMatch(new RegExp(`${secret}|id-of-web|secret=1`));
  });

  it('has none for the question of the service whether the server answers', async () => {
    expect(await running.server.ready()).toBe(true);
    await delay(200);
    expect(running.auditLines()).toEqual([]);
    expect(running.counted(404)).toBe(0);
  });

  it('is for root and its group alone', () => {
    expect(statSync(running.auditLog).mode & 0o777).toBe(0o640);
    expect(statSync(`${running.world.folder}/audit`).mode & 0o777).toBe(0o750);
  });

  it('opened anew after it was renamed, loses no line and no request', async () => {
    const fetching = fetch(undefined, { perSecond: 200, seconds: 4, keepAlive: true });
    await delay(1000);
    const former = running.pid();
    renameSync(running.auditLog, `${running.auditLog}.1`);
    await running.server.reopenAudit();
    expect((await fetching).codes).toEqual({ 200: 800 });
    await expect.poll(() => running.pids(), { timeout: 15_000 }).not.toContain(former);
    const inFormer = running.auditLines(`${running.auditLog}.1`).length;
    expect(inFormer).toBeGreaterThan(0);
    expect(inFormer).toBeLessThan(800);
    await expect.poll(() => running.auditLines().length + inFormer).toBe(800);
    await expect.poll(() => running.counted(200)).toBe(800);
    expect(running.pids()).toHaveLength(1);
  });

  it('opened anew, forgets nothing and remembers nothing that was forgotten meanwhile', async () => {
    const other = await running.world.addTask();
    await running.server.put(entryFor(other, 'other'));
    const reopened = running.server.reopenAudit();
    await running.server.forget('id-of-other');
    await reopened;
    const codes = async () => [(await fetch()).codes, (await fetchIn(other, '/v2/credentials/id-of-other')).codes];
    expect(await codes()).toEqual([{ 200: 1 }, { 400: 1 }]);
  });

  it('opened anew several times at once, and killed meanwhile, is served by one process in the end', async () => {
    const reopened = [running.server.reopenAudit(), running.server.reopenAudit(), running.server.reopenAudit()];
    process.kill(running.pid(), 'SIGKILL');
    await Promise.all(reopened);
    expect((await fetch()).codes).toEqual({ 200: 1 });
    await expect.poll(() => running.pids(), { timeout: 15_000 }).toHaveLength(1);
    await delay(1000);
    expect(running.pids()).toHaveLength(1);
    expect((await fetch()).codes).toEqual({ 200: 1 });
  });

  it('that cannot be opened anew is written on in the former file', async () => {
    renameSync(running.auditLog, `${running.auditLog}.1`);
    mkdirSync(running.auditLog);
    await running.server.reopenAudit();
    expect((await fetch()).codes).toEqual({ 200: 1 });
    await expect.poll(() => running.auditLines(`${running.auditLog}.1`)).toHaveLength(1);
    expect(running.log.join('')).toContain('the audit log was not opened anew');
    expect(running.pids()).toHaveLength(1);
  });
});

describe('the audit log on a full disk', () => {
  it('delays no answer, and what was lost is counted', async () => {
    const world = await BridgeWorld.make();
    const disk = `${world.folder}/disk`;
    mkdirSync(disk);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    const running = new RunningServer(world, {
      auditLog: `${disk}/audit.log`,
      rate: { perSecond: 10_000, burst: 10_000 },
    });
    await running.server.start();
    const task = await world.addTask();
    await running.server.put(entryFor(task, 'web'));
    const { codes, p99 } = await fetchIn(task, '/v2/credentials/id-of-web', {
      count: 2000,
      parallel: 8,
      keepAlive: true,
    });
    expect(codes).toEqual({ 200: 2000 });
    expect(p99).toBeLessThan(1000);
    const dropped = () => running.reports.reduce((sum, { auditDropped }) => sum + auditDropped, 0);
    const written = readFileSync(`${disk}/audit.log`, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}')).length;
    await expect.poll(dropped).toBe(2000 - written);
    expect(existsSync(`${disk}/audit.log`)).toBe(true);
    expect(running.log.join('')).toContain('audit lines were lost');
    // Room again: it is written on, and no line runs into the one that was cut.
    writeFileSync(`${disk}/audit.log`, '');
    await fetchIn(task, '/v2/credentials/id-of-web');
    await expect.poll(() => running.auditLines(`${disk}/audit.log`).length).toBe(1);
    await running.stop();
  });
});
