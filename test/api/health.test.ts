import supertest from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReadinessCheck } from '../../src/api/injection.js';
import { type ApiApp, hostReport, makeApiApp } from './api-app.js';

let api: ApiApp;
afterEach(() => api.app.close());

async function get(path: string, checks: ReadinessCheck[] = []) {
  api = await makeApiApp({}, checks);
  return supertest(api.app.getHttpServer()).get(path);
}
const fine: ReadinessCheck = { name: 'state store', check: async () => undefined };

describe('health', () => {
  it('is that the process answers', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it('goes on whatever parameters a prober adds', async () => {
    expect(await get('/healthz?verbose=1')).toMatchObject({ status: 200 });
  });
});

describe('readiness', () => {
  it('is that every part works, each named', async () => {
    const answer = await get('/readyz', [fine, { ...fine, name: 'bridge' }]);
    expect(answer).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(answer.body.parts).toEqual({
      'state store': { status: 'up', detail: null },
      bridge: { status: 'up', detail: null },
    });
  });

  it('is not given while one part is down, and says which and why', async () => {
    const check = async () => {
      throw new Error('connect ENOENT');
    };
    const answer = await get('/readyz', [fine, { name: 'docker', check }]);
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' }, body: { status: 'not-ready' } });
    expect(answer.body.parts).toMatchObject({ docker: { status: 'down', detail: 'connect ENOENT' } });
  });

  it('does not wait for a part that hangs', async () => {
    const answer = await get('/readyz', [fine, { name: 'docker', check: () => new Promise(() => undefined) }]);
    expect(answer.status).toBe(503);
    expect(answer.body.parts.docker.detail).toMatch(/no answer within/);
  });
});

describe('the host', () => {
  it('is told as it was found', async () => {
    expect(await get('/host')).toMatchObject({ status: 200, body: hostReport });
  });

  it('takes no parameters', async () => {
    const answer = await get('/host?fields=eni');
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'fields', message: 'is not a known field' }] },
    });
  });
});
