import { describe, expect, it } from 'vitest';
import { parseTarget } from '../../../src/credentials/server/target.js';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const idOf = (text: string) => {
  const target = parseTarget(text);
  return target.kind === 'credentials' ? target.id : 'not credentials';
};

describe('the target of a request', () => {
  it.each([
    `/v2/credentials/${id}`,
    `//v2/credentials/${id}`,
    `/v2//credentials///${id}`,
    `/v2/credentials/${id}?x=y`,
    `http://169.254.170.2/v2/credentials/${id}`,
    `/v1/credentials?id=${id}`,
    `/v1/credentials?x=y&id=${id}`,
  ])('has the id in %s', (text) => expect(idOf(text)).toBe(id));

  it.each([
    '/v2/credentials',
    '/v2/credentials/',
    '/v2/credentials/?id=x',
    '/v1/credentials',
    '/v1/credentials?id=',
    '/v1/credentials?ID=x',
  ])('has none in %s', (text) => expect(idOf(text)).toBeUndefined());

  it.each([
    `/v2/credentials/${id}/`,
    `/v2/credentials/x/../${id}`,
    `/v2/credentials/./${id}`,
    `/v2/credentials/%2e%2e/${id}`,
    `/v2/credentials/${id.replace('0', '%30')}`,
    `/v2/credentials/${id}#x`,
    `/v1/credentials?id=${id}&id=${id}`,
    `/v1/credentials?id=${id.replace('0', '%30')}`,
  ])('has one that nobody has in %s', (text) => {
    expect(idOf(text)).toBeDefined();
    expect(idOf(text)).not.toBe(id);
  });

  it.each([
    '/v2/../v2/credentials/x',
    '/v2%2fcredentials/x',
    '/V2/credentials/x',
    '',
    '*',
    'v2/credentials/x',
    '/v1/credentials/x',
  ])('is something else in %j', (text) => expect(parseTarget(text).kind).toBe('other'));

  it('does not take long to read, however it is made', () => {
    const begun = performance.now();
    parseTarget(`/${'/'.repeat(8000)}${'?id='.repeat(2000)}`);
    parseTarget(`http://${'a'.repeat(8000)}`);
    expect(performance.now() - begun).toBeLessThan(100);
  });
});
