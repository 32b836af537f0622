import { expect, it } from 'vitest';
import { Retries } from '../../../src/attachments/retries.js';

function retriesAt() {
  const clock = { now: 0 };
  return { clock, retries: new Retries(() => clock.now) };
}

/** How long it is left alone after each failure, in seconds. */
function pauses(count: number): number[] {
  const { clock, retries } = retriesAt();
  return Array.from({ length: count }, () => {
    retries.failed('web', 'busy');
    const failedAt = clock.now;
    while (!retries.isDue('web')) clock.now += 1000;
    return (clock.now - failedAt) / 1000;
  });
}

it('what fails is tried again ever more seldom, and at least once a minute', () => {
  expect(pauses(9)).toEqual([2, 4, 8, 16, 32, 60, 60, 60, 60]);
});

it('a failure is news when it is the first, is another one, or follows a success', () => {
  const { retries } = retriesAt();
  expect(retries.failed('web', 'busy')).toBe(true);
  expect(retries.failed('web', 'busy')).toBe(false);
  expect(retries.failed('db', 'busy')).toBe(true);
  expect(retries.failed('web', 'gone')).toBe(true);
  retries.succeeded('web');
  expect(retries.isDue('web')).toBe(true);
  expect(retries.failed('web', 'gone')).toBe(true);
});

it('all is due at once when something has changed for the better, and goes on as seldom when that did not help', () => {
  const { clock, retries } = retriesAt();
  for (const _ of [1, 2, 3]) retries.failed('web', 'busy');
  retries.hurry();
  expect(retries.isDue('web')).toBe(true);
  retries.failed('web', 'busy');
  clock.now += 15_000;
  expect(retries.isDue('web')).toBe(false);
});

it('nothing is kept of a task that is gone', () => {
  const { retries } = retriesAt();
  retries.failed('look web', 'busy');
  retries.failed('web', 'busy');
  retries.failed('db', 'busy');
  retries.forget('web');
  expect(retries.isDue('web')).toBe(true);
  expect(retries.failed('look web', 'busy')).toBe(true);
  expect(retries.isDue('db')).toBe(false);
});
