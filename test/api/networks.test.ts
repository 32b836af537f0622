import supertest from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseTaskId, type TaskId } from '../../src/attachments/task-id.js';
import { TaskEniError } from '../../src/errors.js';
import { type ApiApp, makeApiApp } from './api-app.js';

const body = { eni: { macAddress: '02:00:00:00:00:01' } };
let api: ApiApp;
let http: ReturnType<typeof supertest>;
let count = 0;
let taskId: TaskId;
let path: string;

beforeAll(async () => {
  api = await makeApiApp();
  http = supertest(api.app.getHttpServer());
});
afterAll(() => api.app.close());
beforeEach(() => {
  taskId = parseTaskId(`task-${++count}`) as TaskId;
  path = `/tasks/${taskId}/network`;
});

/** Sends a POST and waits until the service has begun. The answer stands in an object, or awaiting this would await it too. */
async function post(headers: Record<string, string> = {}) {
  const before = api.attachments.requests.length;
  const answer = http
    .post(path)
    .set(headers)
    .send(body)
    .then((response) => response);
  await vi.waitFor(() => expect(api.attachments.requests.length).toBeGreaterThan(before));
  return { answer };
}

describe('POST of a network', () => {
  it('answers 201 once the network is ready', async () => {
    const { answer } = await post();
    api.attachments.becomeReady(taskId);
    const { status, headers, body: network } = await answer;
    expect(status).toBe(201);
    expect(headers).toMatchObject({ location: path, 'cache-control': 'no-store' });
    expect(network).toMatchObject({ taskId, state: 'READY', networkMode: 'container:4f1c' });
  });

  it('answers all who ask the same with the same body, and one of them with 201', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post()));
    api.attachments.becomeReady(taskId);
    const responses = await Promise.all(answers.map(({ answer }) => answer));
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([...Array<number>(9).fill(200), 201]);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  });

  it('answers 202 at once when asked to, and 200 once ready', async () => {
    const { answer } = await post({ prefer: 'respond-async' });
    const first = await answer;
    expect(first.status).toBe(202);
    expect(first.headers).toMatchObject({ 'preference-applied': 'respond-async', location: path });
    expect(first.body).toMatchObject({ state: 'PENDING', readyAt: null });
    api.attachments.becomeReady(taskId);
    const again = await http.post(path).set('prefer', 'respond-async').send(body);
    expect(again.status).toBe(200);
    expect(again.headers).not.toHaveProperty('preference-applied');
  });

  it('answers a failure with its problem, also as the network that GET shows', async () => {
    const { answer } = await post();
    api.attachments.becomeFailed(taskId, new TaskEniError('eni-timeout', 'no link', { taskId, step: 'wait-for-eni' }));
    const response = await answer;
    expect(response.status).toBe(504);
    expect(response.headers).toMatchObject({ 'content-type': 'application/problem+json', 'retry-after': '5' });
    expect(response.body).toMatchObject({ code: 'eni-timeout', taskId, step: 'wait-for-eni' });
    const shown = await http.get(path);
    expect(shown.body).toMatchObject({ state: 'FAILED', error: { code: 'eni-timeout', step: 'wait-for-eni' } });
  });

  it('outlives a failure that nobody waits for', async () => {
    await (
      await post({ prefer: 'respond-async' })
    ).answer;
    api.attachments.becomeFailed(taskId, new TaskEniError('eni-timeout', 'no link'));
    expect((await http.get('/healthz')).status).toBe(200);
  });

  it('fills in the defaults of the settings', async () => {
    await (
      await post({ prefer: 'respond-async' })
    ).answer;
    expect(api.attachments.requests.at(-1)).toMatchObject({ blockInstanceMetadata: true, dhcp: true, sandbox: null });
  });
});

describe('GET of a network', () => {
  it('lists what differs from the plan only when asked to', async () => {
    api.attachments.becomeReady(taskId);
    api.attachments.drift = ['eth0 is down'];
    expect((await http.get(path)).body).not.toHaveProperty('drift');
    expect((await http.get(`${path}?verify=true`)).body).toMatchObject({ drift: ['eth0 is down'] });
    api.attachments.drift = [];
    expect((await http.get(`${path}?verify=true`)).body).toMatchObject({ drift: [] });
  });

  it('is answered 404 when the task has none', async () => {
    const response = await http.get(path);
    expect(response.status).toBe(404);
    expect(response.body).toMatchObject({ code: 'task-not-found', taskId });
  });
});

describe('DELETE of a network', () => {
  it('answers with the network as it was, then that there is nothing', async () => {
    api.attachments.becomeReady(taskId);
    const first = await http.delete(path);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ taskId, state: 'DETACHED', eni: { hostInterface: 'eth1' } });
    const second = await http.delete(path);
    expect([second.status, second.text]).toEqual([204, '']);
  });

  it.each([
    ['', false],
    ['?force=true', true],
    ['?force=false', false],
  ])('reads %s as force %s', async (query, force) => {
    await http.delete(path + query);
    expect(api.attachments.forced.at(-1)).toBe(force);
  });

  it.each([
    '?force',
    '?force=1',
    '?force=TRUE',
    '?force=true&force=true',
    '?forse=true',
    '?force=',
    '?__proto__=1',
    '?toString=1',
  ])('refuses %s and does nothing', async (query) => {
    const before = api.attachments.forced.length;
    const response = await http.delete(path + query);
    expect(response.status).toBe(400);
    expect(response.body.errors).toHaveLength(1);
    expect(api.attachments.forced).toHaveLength(before);
  });
});

describe('credentials of a task', () => {
  const credentials = { source: 'assume-role', roleArn: 'arn:aws:iam::123456789012:role/app' };

  it('are replaced and revoked', async () => {
    api.attachments.becomeReady(taskId);
    const put = await http.put(`/tasks/${taskId}/credentials`).send(credentials);
    expect([put.status, put.body.taskId]).toEqual([200, taskId]);
    expect(api.attachments.pushed.at(-1)).toMatchObject({ ...credentials, durationSeconds: 3600 });
    expect((await http.delete(`/tasks/${taskId}/credentials`)).status).toBe(204);
  });

  it('of no task are not found, and bad ones are named', async () => {
    const unknown = await http.put(`/tasks/${taskId}/credentials`).send(credentials);
    expect(unknown.body).toMatchObject({ status: 404, code: 'task-not-found' });
    const bad = await http.put(`/tasks/${taskId}/credentials`).send({ source: 'pushed' });
    expect(bad.body.errors.map((error: { path: string }) => error.path)).toContain('secretAccessKey');
  });
});
