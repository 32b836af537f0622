import { endianness } from 'node:os';
import { describe, expect, it } from 'vitest';
import { unixAddress } from '../../../src/kernel/service-notification.js';

const family = endianness() === 'LE' ? '0100' : '0001';

describe('the address of the socket that systemd listens on', () => {
  it('is the path of a file with a closing zero', () => {
    expect(unixAddress('/run/n').toString('hex')).toBe(`${family}${Buffer.from('/run/n').toString('hex')}00`);
  });

  it('begins with a zero and ends without one in the abstract namespace', () => {
    expect(unixAddress('@n').toString('hex')).toBe(`${family}00${Buffer.from('n').toString('hex')}`);
  });

  it.each(['', 'n', '@', '/', `/${'n'.repeat(107)}`])('is refused when %j names no socket', (path) => {
    expect(() => unixAddress(path)).toThrow(/NOTIFY_SOCKET/);
  });

  it('takes the longest path that unix(7) allows', () => {
    expect(unixAddress(`/${'n'.repeat(106)}`)).toHaveLength(110);
  });
});
