import { describe, expect, it } from 'vitest';
import { FetchQueue } from '../../../src/credentials/fetch-queue.js';

/** Fetches that end when they are told to. */
function heldFetches(queue: FetchQueue) {
  const order: string[] = [];
  const finish = new Map<string, (error?: Error) => void>();
  const run = (name: string) =>
    queue.run(() => {
      order.push(name);
      return new Promise<void>((resolve, reject) => finish.set(name, (error) => (error ? reject(error) : resolve())));
    });
  return { order, finish, run };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue of fetches', () => {
  it('runs only a few at a time', async () => {
    const { order, finish, run } = heldFetches(new FetchQueue(2));
    for (const name of ['a', 'b', 'c']) void run(name);
    await settled();
    expect(order).toEqual(['a', 'b']);
    finish.get('a')?.();
    await settled();
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('goes on after one that failed', async () => {
    const { order, finish, run } = heldFetches(new FetchQueue(1));
    const failing = run('a');
    void run('b');
    await settled();
    finish.get('a')?.(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    await settled();
    expect(order).toEqual(['a', 'b']);
  });
});
