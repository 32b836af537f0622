import { describe, expect, it } from 'vitest';
import { privilegesLeft } from '../../../src/credentials/server/privileges-left.js';

const dropped = [
  'Name:\tnode',
  'Uid:\t65534\t65534\t65534\t65534',
  'Gid:\t65534\t65534\t65534\t65534',
  'Groups:\t ',
  'CapInh:\t0000000000000000',
  'CapPrm:\t0000000000000000',
  'CapEff:\t0000000000000000',
  'CapBnd:\t000001ffffffffff',
  'CapAmb:\t0000000000000000',
  'NoNewPrivs:\t1',
].join('\n');

describe('privileges', () => {
  it('are gone from a thread that dropped them all', () => {
    expect(privilegesLeft(dropped, 65534)).toEqual([]);
  });

  it.each([
    ['Uid:\t65534\t65534\t65534\t65534', 'Uid:\t65534\t65534\t0\t65534', 'Uid is'],
    ['Gid:\t65534\t65534\t65534\t65534', 'Gid:\t65534\t0\t65534\t65534', 'Gid is'],
    ['Groups:\t ', 'Groups:\t0 ', 'Groups is 0'],
    ['CapEff:\t0000000000000000', 'CapEff:\t0000000000000400', 'CapEff is'],
    ['CapPrm:\t0000000000000000', 'CapPrm:\t0000000000000400', 'CapPrm is'],
    ['CapAmb:\t0000000000000000', '', 'CapAmb is undefined'],
    ['NoNewPrivs:\t1', 'NoNewPrivs:\t0', 'no_new_privs'],
  ])('are left where %j reads %j', (line, instead, word) => {
    const left = privilegesLeft(dropped.replace(line, instead), 65534);
    expect(left).toHaveLength(1);
    expect(left[0]).toContain(word);
  });
});
