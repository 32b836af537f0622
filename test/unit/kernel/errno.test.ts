import { describe, expect, it } from 'vitest';
import { KernelError, errnoName, ignoring, isErrno } from '../../../src/kernel/errno.js';

describe('an errno', () => {
  it('has the name that the manual pages give it', () => {
    expect([2, 11, 17, 54, 95, 105].map(errnoName)).toEqual([
      'ENOENT',
      'EAGAIN',
      'EEXIST',
      'EXFULL',
      'EOPNOTSUPP',
      'ENOBUFS',
    ]);
    expect(errnoName(4000)).toBe('errno 4000');
  });

  it('is told with the operation that it ended', () => {
    expect(KernelError.fromNumber(17, 'create bridge ecs-eni').message).toBe('create bridge ecs-eni: EEXIST');
  });

  it('is taken from what node:fs throws, and nothing else passes for one', () => {
    const thrown = Object.assign(new Error('no such file'), { code: 'ENOENT' });
    expect(KernelError.fromFileSystem(thrown, 'open x')).toMatchObject({ errno: 'ENOENT', cause: thrown });
    expect(() => KernelError.fromFileSystem(new TypeError('a mistake'), 'open x')).toThrow('a mistake');
  });

  it('is ignored only when it is named', () => {
    const gone = new KernelError('ENODEV', 'delete link 7');
    expect(isErrno(gone, 'ENOENT', 'ENODEV')).toBe(true);
    expect(ignoring('ENODEV')(gone)).toBeUndefined();
    expect(() => ignoring('ENOENT')(gone)).toThrow(gone);
    expect(() => ignoring('ENODEV')(new Error('ENODEV'))).toThrow('ENODEV');
  });
});
