import { describe, expect, it } from 'vitest';
import { blocking } from '../../../src/kernel/blocking-queue.js';

describe('the blocking queue', () => {
  it('runs one at a time, in order, and gives each its own result', async () => {
    const seen: string[] = [];
    const job = (name: string) =>
      blocking(async () => {
        seen.push(`${name} starts`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        seen.push(`${name} ends`);
        return name;
      });
    expect(await Promise.all([job('a'), job('b'), job('c')])).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  it('lets the event loop have a turn after each', async () => {
    const seen: string[] = [];
    setTimeout(() => seen.push('somebody else'), 0);
    const hold = (name: string) =>
      blocking(() => {
        seen.push(name);
        for (const until = Date.now() + 5; Date.now() < until;);
      });
    await Promise.all([hold('first'), hold('second'), hold('third')]);
    expect(seen.indexOf('somebody else')).toBeLessThan(seen.indexOf('third'));
  });

  it('goes on after a failure, which only its caller sees', async () => {
    const failed = blocking(() => {
      throw new Error('failed');
    });
    const next = blocking(() => 'next');
    await expect(failed).rejects.toThrow('failed');
    expect(await next).toBe('next');
  });
});
