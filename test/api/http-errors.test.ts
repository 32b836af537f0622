import supertest from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, TaskEniError, errorTable } from '../../src/errors.js';
import { type ApiApp, makeApiApp } from './api-app.js';

const path = '/tasks/web-1/network';
const body = { eni: { macAddress: '02:00:00:00:00:01' } };
let api: ApiApp;
let http: ReturnType<typeof supertest>;

beforeAll(async () => {
  api = await makeApiApp();
  await api.app.listen(0, '127.0.0.1');
  http = supertest(api.app.getHttpServer());
});
afterAll(() => api.app.close());
beforeEach(() => {
  api.attachments.failure = undefined;
});

function expectProblem(response: supertest.Response, status: number, code: ErrorCode): void {
  expect([response.status, response.headers['content-type']]).toEqual([status, 'application/problem+json']);
  expect(response.body).toMatchObject({
    status,
    code,
    type: `urn:task-eni:problem:${code}`,
    title: errorTable[code].title,
  });
  expect(response.body.detail).toEqual(expect.any(String));
}

describe('an error of the domain', () => {
  it.each(Object.keys(errorTable) as ErrorCode[])('%s is told with its status', async (code) => {
    api.attachments.failure = new TaskEniError(code, 'the reason', { taskId: 'web-1', step: 'move-eni' });
    const response = await http.post(path).send(body);
    expectProblem(response, errorTable[code].status, code);
    expect(response.body).toMatchObject({ detail: 'the reason', taskId: 'web-1', step: 'move-eni' });
    expect('retry-after' in response.headers).toBe([503, 504].includes(response.status) || code === 'busy');
  });

  it('that nobody foresaw is told without its words, which the log has', async () => {
    api.attachments.failure = new TypeError('secret innards');
    const response = await http.get('/tasks');
    expectProblem(response, 500, 'internal');
    expect(response.text).not.toContain('innards');
    expect(api.log.join('')).toContain('secret innards');
  });
});

describe('a path or method that is not there', () => {
  it.each(['/nothing', '/tasks/web-1', '/tasks/web-1/networks', '/Tasks', '/docs/nothing.js'])(
    '%s is not found',
    async (unknown) => {
      expectProblem(await http.get(unknown), 404, 'not-found');
    },
  );

  it.each([
    ['put', path, 'DELETE, GET, HEAD, POST'],
    ['patch', path, 'DELETE, GET, HEAD, POST'],
    ['options', path, 'DELETE, GET, HEAD, POST'],
    ['post', '/tasks', 'GET, HEAD'],
    ['get', '/tasks/web-1/credentials', 'DELETE, PUT'],
    ['delete', '/healthz', 'GET, HEAD'],
    ['post', '/docs', 'GET, HEAD'],
    ['post', '/openapi.json', 'GET, HEAD'],
    ['delete', '/', 'GET, HEAD'],
  ] as const)('%s %s is answered with what is allowed', async (method, known, allow) => {
    const response = await http[method](known).send(method === 'put' ? 'not JSON' : undefined);
    expectProblem(response, 405, 'method-not-allowed');
    expect(response.headers['allow']).toBe(allow);
  });

  it.each(['/tasks', '/host', '/healthz', '/readyz', '/metrics', '/', '/docs', '/openapi.json'])(
    'HEAD of %s is GET without the body',
    async (known) => {
      const [head, get] = [await http.head(known), await http.get(known)];
      expect([head.status, head.headers['content-type']]).toEqual([200, get.headers['content-type']]);
      expect(head.text).toBeFalsy();
    },
  );
});

describe('a task id', () => {
  it.each(['..%2F..%2Fx', '.x', 'a%20b', 'a%00', '%E2%82%AC', 'a'.repeat(256), '-x'])('%s is refused', async (id) => {
    const response = await http.get(`/tasks/${id}/network`);
    expectProblem(response, 400, 'invalid-request');
    expect(response.body.errors[0].path).toBe('taskId');
  });

  it.each(['a'.repeat(255), 'A:1.2_3-4', '%41b'])('%s is taken', async (id) => {
    expectProblem(await http.get(`/tasks/${id}/network`), 404, 'task-not-found');
  });

  it.each(['%zz', '%ff', '%'])('%s is no percent-encoding', async (id) => {
    expectProblem(await http.get(`/tasks/${id}/network`), 400, 'invalid-request');
  });
});

it('names the task of the path, whatever went wrong there', async () => {
  expect((await http.post(path).send({})).body).toMatchObject({ code: 'invalid-request', taskId: 'web-1' });
  expect((await http.get('/tasks/-x/network')).body).not.toHaveProperty('taskId');
});

describe('a body', () => {
  const send = (type: string, content: string) => http.post(path).set('content-type', type).send(content);

  it.each(['{', '{"eni":', '"text"', '7', 'null', '[', '{"a":NaN}', '\u0000'])(
    '%s is not a JSON object',
    async (content) => {
      expectProblem(await send('application/json', content), 400, 'invalid-request');
    },
  );

  it('is not quoted when it cannot be parsed', async () => {
    const response = await send('application/json', '{"secretAccessKey": "sEcReT');
    expect(response.text).not.toContain('sEcReT');
    expect(api.log.join('')).not.toContain('sEcReT');
  });

  it.each([[''], ['{}'], ['[]']])('%j has no ENI', async (content) => {
    expectProblem(await send('application/json', content), 400, 'invalid-request');
  });

  it('that is missing is told so', async () => {
    expectProblem(await http.post(path), 400, 'invalid-request');
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=koi8-r',
    'multipart/form-data',
  ])('of type %s is not taken', async (type) => {
    expectProblem(await send(type, JSON.stringify(body)), 415, 'unsupported-media-type');
  });

  it('that is compressed is not taken', async () => {
    const response = await http
      .post(path)
      .set('content-type', 'application/json')
      .set('content-encoding', 'gzip')
      .send('x');
    expectProblem(response, 415, 'unsupported-media-type');
  });

  it.each([
    [64 * 1024, 400],
    [64 * 1024 + 1, 413],
    [5 * 1024 * 1024, 413],
  ])('of %i bytes is answered %i', async (size, status) => {
    const content = `{"x":"${'y'.repeat(size - 8)}"}`;
    expect((await send('application/json', content)).status).toBe(status);
  });

  it('with a charset and odd case in its type is taken', async () => {
    const response = await send('Application/JSON; Charset=UTF-8', JSON.stringify(body)).set('prefer', 'respond-async');
    expect(response.status).toBe(202);
  });
});

it('every answer forbids caching, sniffing and framing', async () => {
  for (const known of ['/tasks', '/nothing', '/', '/docs']) {
    const { headers } = await http.get(known);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers).not.toHaveProperty('x-powered-by');
  }
});
