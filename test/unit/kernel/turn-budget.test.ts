import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { hasTime, spend, whenTime } from '../../../src/kernel/turn-budget.js';

function hold(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until;);
}

beforeEach(() => nextTurn());

it('has time for much that is short in one turn', () => {
  for (let count = 0; count < 100; count += 1) spend(() => count);
  expect(hasTime()).toBe(true);
});

it('has none left after what took long, also when that threw, until the next turn', async () => {
  expect(() =>
    spend(() => {
      hold(25);
      throw new Error('refused');
    }),
  ).toThrow('refused');
  expect(hasTime()).toBe(false);
  await nextTurn();
  expect(hasTime()).toBe(true);
});

it('resumes those who wait in their order, in as many turns as they need', async () => {
  const turns: string[] = [];
  for (const name of ['a', 'b', 'c'])
    whenTime(() =>
      spend(() => {
        turns.push(name);
        hold(25);
      }),
    );
  expect(turns).toEqual([]);
  await expect.poll(() => turns.length, { interval: 1 }).toBe(3);
  expect(turns).toEqual(['a', 'b', 'c']);
});

it('lets the event loop have a turn between two that take long', async () => {
  const order: string[] = [];
  whenTime(() => {
    order.push('first');
    setTimeout(() => order.push('somebody else'), 1);
    spend(() => hold(25));
  });
  whenTime(() => order.push('second'));
  await expect.poll(() => order.length, { interval: 1 }).toBe(3);
  expect(order).toEqual(['first', 'somebody else', 'second']);
});
