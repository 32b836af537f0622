import { describe, expect, it } from 'vitest';
import { faultOfTarget, hostName, refusalAt } from '../../../src/api/admission.js';

const policy = { isOurName: (host: string) => host === '127.0.0.1', isToken: (text: string) => text === 'right' };
const knock = (path: string, host?: string, authorization?: string) => refusalAt(policy, { path, host, authorization });

describe('the door of a TCP listener', () => {
  it.each(['/healthz', '/readyz', '/metrics'])('lets probes in at %s under any name', (path) => {
    expect(knock(path, 'node-7.example:51680')).toBeUndefined();
  });

  it.each(['/', '/docs', '/docs/swagger-ui.css', '/openapi.json'])('asks for no token at %s', (path) => {
    expect(knock(path, '127.0.0.1:51680')).toBeUndefined();
  });

  it.each(['/tasks', '/host', '/docsx', '/Healthz', '/metrics/', '/openapi.json/', '//docs', '/%64ocs', ''])(
    'asks for the token at %s',
    (path) => {
      expect(knock(path, '127.0.0.1')?.code).toBe('unauthorized');
      expect(knock(path, '127.0.0.1', 'Bearer wrong')?.code).toBe('unauthorized');
      expect(knock(path, '127.0.0.1', 'Basic right')?.code).toBe('unauthorized');
      expect(knock(path, '127.0.0.1', 'right')?.code).toBe('unauthorized');
      expect(knock(path, '127.0.0.1', 'bearer right')).toBeUndefined();
    },
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '',
    '127.0.0.1@evil.example',
    undefined,
  ])('refuses the Host %s even with the token', (host) => {
    expect(knock('/tasks', host, 'Bearer right')?.code).toBe('invalid-request');
    expect(knock('/', host)?.fields[0]?.path).toBe('Host');
  });
});

describe('a Host header', () => {
  it.each([
    ['Localhost:8080', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]:51680', '::1'],
    ['[::1', undefined],
    ['a b', undefined],
    ['a:b:c', undefined],
  ])('%s names %s', (header, name) => {
    expect(hostName(header)).toBe(name);
  });
});

describe('a request target', () => {
  it.each(['http://127.0.0.1/tasks', '*', '', '/tasks#x', '/tasks/%zz/network', '/tasks/%ff/network'])(
    '%s is refused',
    (target) => {
      expect(faultOfTarget(target)?.code).toBe('invalid-request');
    },
  );

  it.each(['/', '/tasks?x=%zz', '/tasks/a%2Fb/network'])('%s is read on', (target) => {
    expect(faultOfTarget(target)).toBeUndefined();
  });
});
