import { describe, expect, it } from 'vitest';
import { auditLine } from '../../../src/credentials/server/audit-line.js';
import { parseTarget } from '../../../src/credentials/server/target.js';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const time = Date.UTC(2026, 10, 30, 12, 0, 0, 7);
const audited = { time, code: 200, address: '169.254.172.2', port: 41234, userAgent: 'aws-cli/2', taskId: 'web-1' };
const parsed = (path: string | undefined, more: object = {}) =>
  JSON.parse(auditLine({ ...audited, target: path === undefined ? undefined : parseTarget(path), ...more }));

describe('an audit line', () => {
  it('says who fetched what, when and how it ended', () => {
    expect(parsed(`/v2/credentials/${id}`)).toEqual({
      time: '2026-11-30T12:00:00.007Z',
      code: 200,
      source: '169.254.172.2:41234',
      path: '/v2/credentials',
      userAgent: 'aws-cli/2',
      taskId: 'web-1',
      eventType: 'GetCredentials',
      version: 1,
    });
  });

  it.each([
    `/v2/credentials/${id}`,
    `/v1/credentials?id=${id}`,
    `/v2/credentialz/${id}`,
    `/${id}`,
    `/${id.replaceAll('-', '')}`,
    `/x?id=${id}`,
  ])('has no id of %s', (path) => {
    const line = auditLine({ ...audited, target: parseTarget(path) });
    expect(line).not.toContain(id);
    expect(line).not.toContain(id.replaceAll('-', ''));
  });

  it('is one line however the client calls itself, and of bounded length', () => {
    const userAgent = `"}\n{"code":200${'\u0000'.repeat(10_000)}`;
    const line = auditLine({ ...audited, userAgent, target: parseTarget(`/${'p'.repeat(8000)}`) });
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(line.length).toBeLessThan(4096);
    expect(JSON.parse(line).userAgent).toBe(userAgent.slice(0, 256));
  });

  it('tells what was no request, and who is not known', () => {
    expect(parsed(undefined, { code: 408, userAgent: undefined, taskId: undefined })).toMatchObject({
      path: null,
      userAgent: null,
      taskId: null,
      eventType: 'Other',
    });
    expect(parsed('/v2/metadata')).toMatchObject({ path: '/v2/metadata', eventType: 'Other' });
  });
});
