import { describe, expect, it } from 'vitest';
import { Limiter } from '../../../src/credentials/server/limiter.js';

const taken = (limiter: Limiter, source: string, times: number, now = 0) =>
  Array.from({ length: times }, () => limiter.take(source, now)).filter((wait) => wait === 0).length;

describe('the limiter', () => {
  it('lets a burst through and then so many a second', () => {
    const limiter = new Limiter({ perSecond: 40, burst: 60 });
    expect(taken(limiter, 'a', 100)).toBe(60);
    expect(taken(limiter, 'a', 100, 1000)).toBe(40);
    expect(taken(limiter, 'a', 100, 1025)).toBe(1);
  });

  it('lets the sixth wait at five a second', () => {
    const limiter = new Limiter({ perSecond: 5, burst: 5 });
    expect(taken(limiter, 'a', 5)).toBe(5);
    expect(limiter.take('a', 0)).toBe(1);
  });

  it('says in whole seconds when there is a token again', () => {
    const limiter = new Limiter({ perSecond: 0.25, burst: 1 });
    limiter.take('a', 0);
    expect(limiter.take('a', 0)).toBe(4);
    expect(limiter.take('a', 2500)).toBe(2);
    expect(limiter.take('a', 4000)).toBe(0);
  });

  it('gives each source its own bucket', () => {
    const limiter = new Limiter({ perSecond: 1, burst: 3 });
    expect(taken(limiter, 'a', 10)).toBe(3);
    expect(taken(limiter, 'b', 10)).toBe(3);
  });

  it('never gathers more than the burst, and loses nothing to a clock that stands still', () => {
    const limiter = new Limiter({ perSecond: 10, burst: 2 });
    expect(taken(limiter, 'a', 10, 100_000)).toBe(2);
    expect(taken(limiter, 'a', 10, 50_000)).toBe(0);
    expect(taken(limiter, 'a', 10, 1_000_000)).toBe(2);
  });

  it('holds no more buckets than it may, and lets further sources share one', () => {
    const limiter = new Limiter({ perSecond: 1, burst: 2 }, 3);
    for (const source of ['a', 'b', 'c']) limiter.take(source, 0);
    const passed = ['d', 'e', 'f', 'g'].filter((source) => limiter.take(source, 0) === 0);
    expect(passed).toHaveLength(2);
    expect(limiter.size).toBeLessThanOrEqual(4);
  });

  it('drops full buckets for new ones', () => {
    const limiter = new Limiter({ perSecond: 1, burst: 2 }, 3);
    for (const source of ['a', 'b', 'c']) limiter.take(source, 0);
    expect(taken(limiter, 'd', 5, 5000)).toBe(2);
    expect(limiter.size).toBe(1);
  });

  it('starts an address anew for its next task', () => {
    const limiter = new Limiter({ perSecond: 1, burst: 2 });
    taken(limiter, 'a', 5);
    limiter.forget('a');
    expect(taken(limiter, 'a', 5)).toBe(2);
  });
});
