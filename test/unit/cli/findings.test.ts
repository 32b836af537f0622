import { describe, expect, it } from 'vitest';
import { judgePrivileges } from '../../../src/cli/check-privileges.js';
import { fail, findingsText, ok, warn } from '../../../src/cli/finding.js';

describe('findings', () => {
  it('are a line each, with the advice below and the verdict last', () => {
    const text = findingsText([ok('a', 'fine'), warn('longer', 'hm', 'do this'), fail('b', 'no', 'do that')]);
    expect(text).toBe(
      'ok    a       fine\nwarn  longer  hm\n              -> do this\nfail  b       no\n              -> do that\n\nThis host cannot run task-eni: 1 failed, 1 warning.\n',
    );
  });

  it('without a failure let the host run the service', () => {
    expect(findingsText([ok('a', 'fine')])).toContain('This host can run task-eni.\n');
  });
});

describe('privileges', () => {
  const status = (mask: string) => `Name:\tnode\nCapEff:\t${mask}\nSeccomp:\t0\n`;

  it.each([
    [0, '000001ffffffffff', 'ok', 'every'],
    [0, '000001ffffffefff', 'fail', 'CAP_NET_ADMIN (links'],
    [0, '000001ffffdfffff', 'fail', 'CAP_SYS_ADMIN (network'],
    [0, '000001fffff7ffff', 'warn', 'CAP_SYS_PTRACE'],
    [0, '0000000000000000', 'fail', 'CAP_SETUID'],
    [1000, '000001ffffffffff', 'fail', 'uid 1000'],
  ])('of uid %i with %s are %s', (uid, mask, verdict, words) => {
    const finding = judgePrivileges(uid, status(mask));
    expect(finding.status).toBe(verdict);
    expect(finding.detail).toContain(words);
  });
});
