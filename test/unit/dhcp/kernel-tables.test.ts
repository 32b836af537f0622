import { describe, expect, it } from 'vitest';
import { hasUsableLinkLocal } from '../../../src/dhcp/link-local.js';
import { parseProcess } from '../../../src/dhcp/left-process.js';

describe('the table of IPv6 addresses', () => {
  const table = (flags: string, scope = '20', name = 'eth0') =>
    `00000000000000000000000000000001 01 80 10 80       lo
fe800000000000003caa37fffe366014 02 40 ${scope} ${flags}     ${name}
20010db8000100000000000000000055 02 40 00 82     eth0
`;

  it('has a usable link-local address once it is settled', () => {
    expect(hasUsableLinkLocal(table('80'), 'eth0')).toBe(true);
  });

  it('has none while it is tentative, when it is a duplicate, or when it is another link', () => {
    expect(hasUsableLinkLocal(table('c0'), 'eth0')).toBe(false);
    expect(hasUsableLinkLocal(table('88'), 'eth0')).toBe(false);
    expect(hasUsableLinkLocal(table('80', '20', 'ecs-eth0'), 'eth0')).toBe(false);
    expect(hasUsableLinkLocal(table('80', '00'), 'eth0')).toBe(false);
    expect(hasUsableLinkLocal('', 'eth0')).toBe(false);
  });
});

describe('what /proc says of a process', () => {
  const numbers = Array.from({ length: 40 }, (_, index) => String(index + 100)).join(' ');

  it('is read behind a name that holds anything, with its empty arguments', () => {
    expect(parseProcess('dhclient', `42 (a) R (b) c) S ${numbers}`, 'dhclient\0\0eth0\0')).toEqual({
      pid: 42,
      startTime: '118',
      program: 'dhclient',
      argv: ['dhclient', '', 'eth0'],
    });
  });

  it('is undefined when it is cut short', () => {
    expect(parseProcess('dhclient', '42 (sh) S 1 2', '')).toBeUndefined();
    expect(parseProcess('dhclient', '', '')).toBeUndefined();
  });
});
