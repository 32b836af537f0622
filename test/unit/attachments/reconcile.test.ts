import { describe, expect, it } from 'vitest';
import { decideAtStart, decideWhileRunning, outlived } from '../../../src/attachments/reconcile.js';
import { record } from './example-records.js';

const observed = { bootId: 'boot-1', instanceId: 'i-1', sandboxAlive: () => true };

describe('at start', () => {
  it('a READY task whose sandbox lives is adopted', () => {
    expect(decideAtStart(record({ state: 'READY' }), observed)).toBe('adopt');
  });

  it('a READY task whose sandbox is gone, or which is of an earlier boot, is released', () => {
    const ready = record({ state: 'READY' });
    expect(decideAtStart(ready, { ...observed, sandboxAlive: () => false })).toBe('release');
    expect(decideAtStart(ready, { ...observed, bootId: 'boot-2' })).toBe('release');
  });

  it.each(['PENDING', 'ATTACHING'] as const)('a task left %s is undone', (state) => {
    expect(decideAtStart(record({ state }), observed)).toBe('undo');
  });

  it('a detach is finished', () => {
    expect(decideAtStart(record({ state: 'DETACHING' }), observed)).toBe('finish-detach');
  });

  it('a record of another instance is set aside, in whatever state', () => {
    const elsewhere = { ...observed, instanceId: 'i-2' };
    for (const state of ['READY', 'ATTACHING', 'FAILED'] as const)
      expect(decideAtStart(record({ state }), elsewhere)).toBe('set-aside');
  });

  it('no record is judged by an instance id that cannot be read, now or when it was made', () => {
    const ready = record({ state: 'READY' });
    expect(decideAtStart(ready, { ...observed, instanceId: null })).toBe('adopt');
    expect(decideAtStart({ ...ready, instanceId: null }, { ...observed, instanceId: 'i-2' })).toBe('adopt');
  });

  it('an ended task is kept, or cleaned further when something of it stayed', () => {
    expect(decideAtStart(record({ state: 'FAILED' }), observed)).toBe('keep');
    expect(decideAtStart(record({ state: 'LOST', undoPending: ['move-eni'] }), observed)).toBe('retry-undo');
  });
});

describe('now and then', () => {
  it('a READY task is released once its sandbox is gone', () => {
    expect(decideWhileRunning(record({ state: 'READY' }), true)).toBe('keep');
    expect(decideWhileRunning(record({ state: 'READY' }), false)).toBe('release');
  });

  it('what could not be undone is tried again', () => {
    expect(decideWhileRunning(record({ state: 'DETACHING' }), true)).toBe('finish-detach');
    expect(decideWhileRunning(record({ state: 'FAILED', undoPending: ['prepare-sandbox'] }), false)).toBe('retry-undo');
  });

  it('an ended task is forgotten after an hour, but not while something of it stayed', () => {
    const ended = record({ state: 'FAILED', endedAt: 0 });
    expect(outlived([ended], 3_600_000)).toEqual([]);
    expect(outlived([ended], 3_600_001)).toEqual([ended]);
    expect(outlived([{ ...ended, undoPending: ['move-eni'] }], 9e9)).toEqual([]);
    expect(outlived([record({ state: 'READY', endedAt: null })], 9e9)).toEqual([]);
  });

  it('of more than a thousand ended tasks the oldest are forgotten, but those of which something stayed', () => {
    const ended = Array.from({ length: 1003 }, (_, n) => record({ state: 'FAILED', endedAt: n }));
    const stayed = record({ state: 'LOST', endedAt: 0, undoPending: ['move-eni'] });
    const running = record({ state: 'READY' });
    const forgotten = outlived([stayed, running, ...ended], 2000);
    expect(forgotten.map(({ endedAt }) => endedAt).toSorted()).toEqual([0, 1, 2]);
    expect(forgotten).not.toContain(stayed);
  });
});
