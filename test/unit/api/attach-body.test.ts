import { describe, expect, it } from 'vitest';
import { AttachDto } from '../../../src/api/attach.dto.js';
import { attachExamples } from '../../../src/api/examples.js';
import { checkInput } from '../../../src/api/input.pipe.js';
import { toRequest } from '../../../src/api/to-request.js';
import { TaskEniError } from '../../../src/errors.js';

const mac = '02:00:00:00:00:01';
const eni = (more: object = {}) => ({ eni: { macAddress: mac, ...more } });

/** The paths of the bad fields; empty when the body is taken. */
function badFields(body: unknown): string[] {
  try {
    checkInput(body, () => AttachDto);
    return [];
  } catch (error) {
    if (!(error instanceof TaskEniError)) throw error;
    expect(error.code).toBe('invalid-request');
    return error.fields.map(({ path }) => path);
  }
}

describe('a body that is taken', () => {
  it.each(Object.entries(attachExamples))('is the example %s', (_name, { value }) => {
    expect(badFields(value)).toEqual([]);
  });

  it.each(['02:AB:cd:00:00:01', '02-ab-cd-00-00-01', '02:ab-cd:00-00:01'])('has the hardware address %s', (text) => {
    expect(badFields({ eni: { macAddress: text } })).toEqual([]);
    const request = toRequest(
      checkInput({ eni: { macAddress: text } }, () => AttachDto),
      { blockInstanceMetadata: true },
    );
    expect(request.eni.mac).toBe('02:ab:cd:00:00:01');
  });

  it.each([
    eni({ ipv4Address: '10.0.1.85/28', ipv4Gateway: '10.0.1.81' }),
    eni({ ipv4Address: '172.31.0.1/16' }),
    eni({ ipv6Address: '2001:DB8::5/64', ipv6Gateway: 'fe80::1' }),
    eni({ ipv6Address: 'fd00::5/64', ipv6Gateway: 'fd00::1' }),
    eni({ mtu: 1280 }),
    eni({ mtu: 9216 }),
    { ...eni(), labels: {} },
    {
      ...eni(),
      credentials: {
        source: 'assume-role',
        roleArn: 'arn:aws-cn:iam::123456789012:role/a/b/app',
        durationSeconds: 900,
      },
    },
    {
      ...eni(),
      credentials: {
        source: 'assume-role',
        roleArn: 'arn:aws:iam::123456789012:role/app',
        durationSeconds: 43200,
        tags: { Team: 'web éa' },
      },
    },
  ])('is %j', (body) => {
    expect(badFields(body)).toEqual([]);
  });
});

describe('a body that is refused', () => {
  it.each([null, 'text', 7, true, [], [eni()]])('is not an object: %j', (body) => {
    expect(() => checkInput(body, () => AttachDto)).toThrow('the body must be a JSON object');
  });

  it.each([
    [{}, 'eni'],
    [{ eni: null }, 'eni'],
    [{ eni: [] }, 'eni'],
    [{ eni: [{ macAddress: mac }] }, 'eni'],
    [{ eni: mac }, 'eni'],
    [{ eni: {} }, 'eni'],
    [{ eni: { macAddress: '02:00:00:00:00' } }, 'eni.macAddress'],
    [{ eni: { macAddress: '01:00:5e:00:00:01' } }, 'eni.macAddress'],
    [{ eni: { macAddress: '00:00:00:00:00:00' } }, 'eni.macAddress'],
    [{ eni: { macAddress: 7 } }, 'eni.macAddress'],
    [{ eni: { id: 'eni-XYZ' } }, 'eni.id'],
    [eni({ id: null }), 'eni.id'],
    [eni({ ipv4Address: '10.0.0.5' }), 'eni.ipv4Address'],
    [eni({ ipv4Address: '10.0.0.5/15' }), 'eni.ipv4Address'],
    [eni({ ipv4Address: '10.0.0.5/30' }), 'eni.ipv4Address'],
    [eni({ ipv4Address: '10.0.0.0/24' }), 'eni.ipv4Address'],
    [eni({ ipv4Address: '10.0.0.255/24' }), 'eni.ipv4Address'],
    [eni({ ipv4Address: '127.0.0.5/24' }), 'eni.ipv4Address'],
    [eni({ ipv4Address: '010.0.0.5/24' }), 'eni.ipv4Address'],
    [eni({ ipv4Gateway: '224.0.0.1' }), 'eni.ipv4Gateway'],
    [eni({ ipv6Address: 'fe80::5/64' }), 'eni.ipv6Address'],
    [eni({ ipv6Address: '2001:db8::5' }), 'eni.ipv6Address'],
    [eni({ ipv6Gateway: 'fe80::1%eth0' }), 'eni.ipv6Gateway'],
    [eni({ ipv6Gateway: 'ff02::1' }), 'eni.ipv6Gateway'],
    [eni({ mtu: 1279 }), 'eni.mtu'],
    [eni({ mtu: 9217 }), 'eni.mtu'],
    [eni({ mtu: 1500.5 }), 'eni.mtu'],
    [eni({ mtu: '1500' }), 'eni.mtu'],
    [eni({ mtu: null }), 'eni.mtu'],
    [eni({ mac }), 'eni.mac'],
    [{ ...eni(), extra: 1 }, 'extra'],
    [{ ...eni(), sandbox: {} }, 'sandbox'],
    [{ ...eni(), sandbox: { containerId: 'a', pid: 5 } }, 'sandbox'],
    [{ ...eni(), sandbox: [] }, 'sandbox'],
    [{ ...eni(), sandbox: { containerId: '../x' } }, 'sandbox.containerId'],
    [{ ...eni(), sandbox: { pid: 0 } }, 'sandbox.pid'],
    [{ ...eni(), sandbox: { pid: '7' } }, 'sandbox.pid'],
    [{ ...eni(), sandbox: { netns: 'relative' } }, 'sandbox.netns'],
    [{ ...eni(), sandbox: { netns: '/run/netns/a\0b' } }, 'sandbox.netns'],
    [{ ...eni(), sandbox: { netns: '/run/netns/a', owned: true } }, 'sandbox.owned'],
    [{ ...eni(), sandbox: { pid: 5 }, dns: {} }, 'dns'],
    [{ ...eni(), dns: { servers: 'x' } }, 'dns.servers'],
    [{ ...eni(), dns: { servers: ['10.0.0.300'] } }, 'dns.servers'],
    [{ ...eni(), dns: { servers: Array.from({ length: 11 }, () => '10.0.0.2') } }, 'dns.servers'],
    [{ ...eni(), dns: { search: ['a b'] } }, 'dns.search'],
    [{ ...eni(), dns: { hostname: 'a\nb' } }, 'dns.hostname'],
    [{ ...eni(), dns: { hostname: 'a'.repeat(64) } }, 'dns.hostname'],
    [{ ...eni(), blockInstanceMetadata: 'true' }, 'blockInstanceMetadata'],
    [{ ...eni(), dhcp: 1 }, 'dhcp'],
    [{ ...eni(), labels: { a: 1 } }, 'labels'],
    [{ ...eni(), labels: { 'a=b': 'x' } }, 'labels'],
    [{ ...eni(), labels: { a: 'x'.repeat(257) } }, 'labels'],
    [{ ...eni(), labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, ''])) }, 'labels'],
    [{ ...eni(), labels: ['a'] }, 'labels'],
    [{ ...eni(), labels: { toString: 'x' } }, 'labels.toString'],
    [{ ...eni(), toString: 'x' }, 'toString'],
    [{ ...eni(), hasOwnProperty: 1 }, 'hasOwnProperty'],
    [JSON.parse('{"eni":{"macAddress":"02:00:00:00:00:01"},"__proto__":{"dhcp":false}}'), '__proto__'],
    [JSON.parse('{"eni":{"constructor":{"prototype":{}}}}'), 'eni.constructor'],
  ])('is %j, for its field %s', (body, path) => {
    expect(badFields(body)).toContain(path);
  });

  it('names every bad field at once, and no good one', () => {
    const paths = badFields({
      eni: { macAddress: mac, mtu: 1, ipv4Address: 'x' },
      dhcp: 'no',
      blockInstanceMetadata: true,
    });
    expect(paths.sort()).toEqual(['dhcp', 'eni.ipv4Address', 'eni.mtu']);
  });

  it('is wide or deep beyond all reason, and is refused at once', () => {
    expect(badFields({ eni: Array.from({ length: 20_000 }, () => ({})) })).toEqual(['eni']);
    expect(badFields({ ...eni(), labels: JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)) })).toHaveLength(1);
    expect(badFields(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, 1])))).toHaveLength(50);
  });
});
