import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Listeners } from '../../src/api/listeners.js';
import { status } from '../../src/cli/status.js';
import { type ApiApp, makeApiApp } from '../api/api-app.js';
import { readyRecord } from '../unit/api/sample-record.js';
import { printed } from './printed.js';

let folder: string;
let api: ApiApp;
const environment = () => ({ TASK_ENI_API_SOCKET: join(folder, 'api.sock') });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'task-eni-status-'));
  api = await makeApiApp({ apiSocket: join(folder, 'api.sock'), apiAddress: null });
  await api.app.get(Listeners).start(api.app.getHttpAdapter().getInstance());
  api.attachments.put(readyRecord);
});
afterAll(async () => {
  await api.app.get(Listeners).stop();
  await api.app.close();
  rmSync(folder, { recursive: true });
});

describe('status', () => {
  it('shows the tasks of the service', async () => {
    const { code, out } = await printed(() => status(environment(), undefined, false));
    expect([code, out.split('\n')[1]]).toEqual([0, expect.stringMatching(/^web-1 +READY /)]);
  });

  it('shows one task', async () => {
    const { code, out } = await printed(() => status(environment(), 'web-1', false));
    expect([code, out]).toEqual([0, expect.stringMatching(/^task +web-1\nstate +READY\n/)]);
  });

  it('gives what the API gives as JSON', async () => {
    const one = await printed(() => status(environment(), 'web-1', true));
    expect(JSON.parse(one.out)).toMatchObject({ taskId: 'web-1', eni: { hostInterface: 'eth1' } });
    const all = await printed(() => status(environment(), undefined, true));
    expect(JSON.parse(all.out)).toMatchObject({ tasks: [{ taskId: 'web-1' }] });
  });

  it.each([
    ['web-2', /web-2 has no network/],
    ['../x', /taskId must be/],
  ])('fails for %s with one line', async (taskId, reason) => {
    const { code, out, err } = await printed(() => status(environment(), taskId, false));
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(reason)]);
    expect(err.trimEnd()).not.toContain('\n');
  });

  it('says that the service is not there', async () => {
    const nowhere = { TASK_ENI_API_SOCKET: join(folder, 'nowhere.sock') };
    const { code, err } = await printed(() => status(nowhere, undefined, false));
    expect([code, err]).toEqual([1, expect.stringContaining('the service is not running: nobody listens at')]);
  });

  it('says that there is no socket to ask, or that it is none', async () => {
    const none = await printed(() => status({ TASK_ENI_API_SOCKET: '' }, undefined, false));
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('TASK_ENI_API_SOCKET is empty')]);
    writeFileSync(join(folder, 'file'), '');
    const file = await printed(() => status({ TASK_ENI_API_SOCKET: join(folder, 'file') }, undefined, false));
    expect([file.code, file.err]).toEqual([1, expect.stringContaining('file')]);
    const bad = await printed(() => status({ TASK_ENI_BRIDGE: 'much-too-long-a-name' }, undefined, false));
    expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('TASK_ENI_BRIDGE')]);
  });
});
