import { describe, expect, it } from 'vitest';
import { prefersAsync } from '../../../src/api/prefer.js';
import { methodsAt } from '../../../src/api/routes.js';
import { StopSignal } from '../../../src/api/stop-signal.js';
import { matches } from '../../../src/api/task-filter.js';
import { readyRecord } from './sample-record.js';

describe('the header Prefer', () => {
  it.each([
    ['respond-async', true],
    ['Respond-Async', true],
    ['wait=10, respond-async;x=1', true],
    ['respond-asynchronously', false],
    ['return=minimal', false],
    ['', false],
    [undefined, false],
  ])('%s asks for an answer at once: %s', (header, asks) => {
    expect(prefersAsync(header)).toBe(asks);
  });
});

describe('the methods of a path', () => {
  const routes = [
    { pattern: /^\/tasks\/?$/, methods: new Set(['GET', 'HEAD']) },
    { pattern: /^\/tasks\/[^/]+\/network\/?$/, methods: new Set(['POST']) },
  ];

  it('are those of the route that it matches whole', () => {
    expect(methodsAt(routes, '/tasks/a/network')).toEqual(new Set(['POST']));
    expect(methodsAt(routes, '/tasks/a/b/network')).toBeUndefined();
    expect(methodsAt(routes, '/x')).toBeUndefined();
  });
});

describe('a filter', () => {
  it.each([
    [{}, true],
    [{ state: ['READY' as const] }, true],
    [{ state: ['FAILED' as const, 'READY' as const] }, true],
    [{ state: ['FAILED' as const] }, false],
    [{ label: ['service=web'] }, true],
    [{ label: ['service=web', 'x=y'] }, false],
    [{ label: ['service=we'] }, false],
    [{ label: ['constructor=x'] }, false],
  ])('%j shows the task: %s', (filter, shown) => {
    expect(matches(readyRecord, filter)).toBe(shown);
  });

  it('takes all after the first = for the value', () => {
    const record = { ...readyRecord, request: { ...readyRecord.request, labels: { a: 'b=c' } } };
    expect(matches(record, { label: ['a=b=c'] })).toBe(true);
  });
});

describe('a wait', () => {
  it('ends with the work', async () => {
    await expect(new StopSignal().waitFor(Promise.resolve(7))).resolves.toBe(7);
  });

  it('ends with shutting-down when the service stops first', async () => {
    const signal = new StopSignal();
    const wait = signal.waitFor(new Promise(() => undefined));
    signal.begin();
    await expect(wait).rejects.toMatchObject({ code: 'shutting-down' });
    await expect(signal.waitFor(Promise.resolve(7))).rejects.toMatchObject({ code: 'shutting-down' });
  });
});
