import { describe, expect, it } from 'vitest';
import { Connections } from '../../../src/credentials/server/connections.js';

describe('the connections', () => {
  it('are so many for each source', () => {
    const connections = new Connections(2, 100);
    expect(['a', 'a', 'a', 'b'].map((source) => connections.open(source))).toEqual([true, true, false, true]);
  });

  it('are so many together', () => {
    const connections = new Connections(2, 3);
    expect(['a', 'b', 'c', 'd'].map((source) => connections.open(source))).toEqual([true, true, true, false]);
  });

  it('make room when one ends', () => {
    const connections = new Connections(1, 100);
    connections.open('a');
    connections.close('a');
    expect(connections.open('a')).toBe(true);
    expect(connections.size).toBe(1);
  });

  it('are not fewer for the end of one that was never there', () => {
    const connections = new Connections(1, 100);
    connections.open('a');
    connections.close('b');
    connections.close('a');
    connections.close('a');
    expect(connections.size).toBe(0);
  });
});
