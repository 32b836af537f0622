import { describe, expect, it } from 'vitest';
import { Limiter } from '../../../src/credentials/server/limiter.js';
import { normalizePeer, respond } from '../../../src/credentials/server/respond.js';
import { CredentialsTable } from '../../../src/credentials/server/table.js';
import { parseTarget } from '../../../src/credentials/server/target.js';

const wall = Date.UTC(2026, 10, 30, 12, 0, 0);
const mine = '169.254.172.2';
const other = '169.254.172.3';

const credentials = {
  roleArn: 'arn:aws:iam::123456789012:role/app',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'SECRET',
  sessionToken: 'TOKEN',
  expiration: wall + 1234,
};

function setUp() {
  const table = new CredentialsTable();
  table.complete = true;
  table.put({ id: 'id-mine', taskId: 'web-1', address: mine, credentials });
  table.put({ id: 'id-empty', taskId: 'web-2', address: other, credentials: null });
  const limiter = new Limiter({ perSecond: 40, burst: 60 });
  const ask = (path: string, { method = 'GET', peer = mine, at = wall } = {}) =>
    respond({ method, target: parseTarget(path), peer }, table, limiter, { wall: at, monotonic: at });
  return { table, limiter, ask };
}

const header = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];

describe('the answer to a fetch', () => {
  it('is the five fields, in the order in which ECS has them, and is not to be stored', () => {
    const answer = setUp().ask('/v2/credentials/id-mine');
    expect(answer.status).toBe(200);
    expect(answer.body).toBe(
      '{"RoleArn":"arn:aws:iam::123456789012:role/app","AccessKeyId":"AKIDEXAMPLE","SecretAccessKey":"SECRET",' +
        '"Token":"TOKEN","Expiration":"2026-11-30T12:00:01Z"}',
    );
    expect(header(answer.headers, 'Content-Type')).toBe('application/json');
    expect(header(answer.headers, 'Cache-Control')).toBe('no-store');
    expect(header(answer.headers, 'Content-Length')).toBe(String(answer.body.length));
  });

  it.each(['//v2/credentials/id-mine', '/v1/credentials?id=id-mine', '//v1//credentials?id=id-mine'])(
    'is the same at %s',
    (path) => {
      const { ask } = setUp();
      expect(ask(path)).toEqual(ask('/v2/credentials/id-mine'));
    },
  );

  it('says in the words of the ECS agent that there is no id', () => {
    expect(JSON.parse(setUp().ask('/v2/credentials/').body)).toEqual({
      code: 'NoIdInRequest',
      message: 'CredentialsV2Request: No Credential ID in the request',
      HTTPErrorCode: 400,
    });
    expect(JSON.parse(setUp().ask('/v1/credentials').body)).toMatchObject({
      message: 'CredentialsV1Request: No Credential ID in the request',
    });
  });

  it('calls an unknown id and one that was forgotten by the same name', () => {
    const { table, ask } = setUp();
    const unknown = ask('/v2/credentials/nobody');
    expect(JSON.parse(unknown.body)).toEqual({
      code: 'InvalidIdInRequest',
      message: 'CredentialsV2Request: Credentials not found',
      HTTPErrorCode: 400,
    });
    table.forget('id-mine');
    expect(ask('/v2/credentials/id-mine')).toEqual(unknown);
  });

  it('is to come again with an unknown id while not every task is known', () => {
    const { table, ask } = setUp();
    table.complete = false;
    expect(ask('/v2/credentials/nobody')).toEqual(ask('/v2/credentials/id-empty', { peer: other }));
    expect(ask('/v2/credentials/').status).toBe(400);
    expect(ask('/v2/credentials/id-mine').status).toBe(200);
    expect(ask('/v2/credentials/id-mine', { peer: other }).status).toBe(403);
  });

  it('is refused to every address but the one of the task, whatever state the credentials are in', () => {
    const { ask } = setUp();
    const refused = ask('/v2/credentials/id-mine', { peer: other });
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'AccessDenied', HTTPErrorCode: 403 });
    expect(ask('/v2/credentials/id-empty', { peer: mine })).toEqual(refused);
    expect(ask('/v2/credentials/id-mine', { peer: other, at: wall + 5000 })).toEqual(refused);
  });

  it('is to come again, while the credentials are not there and once they have expired', () => {
    const { ask } = setUp();
    const answer = ask('/v2/credentials/id-empty', { peer: other });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'CredentialsUninitialized', HTTPErrorCode: 503 });
    expect(header(answer.headers, 'Retry-After')).toBe('1');
    expect(ask('/v2/credentials/id-mine', { at: wall + 1233 }).status).toBe(200);
    expect(ask('/v2/credentials/id-mine', { at: wall + 1234 })).toEqual(answer);
  });

  it.each(['POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'get'])('does not serve %s', (method) => {
    const answer = setUp().ask('/v2/credentials/id-mine', { method });
    expect(answer.status).toBe(405);
    expect(header(answer.headers, 'Allow')).toBe('GET');
  });

  it('is 404 everywhere else, and costs no token', () => {
    const { ask, limiter } = setUp();
    for (const path of ['/', '/v2', '/v2/credential/x', '/v3/id-mine', '/v2/metadata', '/v1/credentials/', '*'])
      expect(ask(path), path).toMatchObject({ status: 404 });
    expect(limiter.size).toBe(0);
  });

  it('is 429 once the bucket is empty, for guesses as well as for fetches', () => {
    const { ask } = setUp();
    for (let i = 0; i < 60; i++) ask(i % 2 === 0 ? '/v2/credentials/id-mine' : '/v2/credentials/guess');
    const answer = ask('/v2/credentials/id-mine');
    expect(answer.status).toBe(429);
    expect(header(answer.headers, 'Retry-After')).toBe('1');
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'TooManyRequests', HTTPErrorCode: 429 });
    expect(ask('/v2/credentials/id-empty', { peer: other }).status).toBe(503);
  });
});

describe('the peer', () => {
  it('is its IPv4 address whichever family the socket is of', () => {
    expect(normalizePeer('::ffff:169.254.172.2')).toBe('169.254.172.2');
    expect(normalizePeer('::FFFF:169.254.172.2')).toBe('169.254.172.2');
    expect(normalizePeer('169.254.172.2')).toBe('169.254.172.2');
  });

  it('is nobody once the socket is gone', () => {
    expect(normalizePeer(undefined)).toBe('');
  });
});
