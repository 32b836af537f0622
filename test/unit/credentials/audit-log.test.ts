import type { write } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AuditLog } from '../../../src/credentials/server/audit-log.js';

type Done = (error: NodeJS.ErrnoException | null, written: number) => void;

/** A disk whose writes end when the test says so. */
function slowDisk() {
  const writes: { text: string; done: Done }[] = [];
  const writeTo = (_fd: number, bytes: Buffer, from: number, length: number, _at: null, done: Done) =>
    writes.push({ text: bytes.toString('utf8', from, from + length), done });
  let dropped = 0;
  const log = new AuditLog(9, (lines) => (dropped += lines), writeTo as unknown as typeof write);
  const finish = (error: string | null = null, written?: number) => {
    const next = writes.shift();
    next?.done(
      error === null ? null : Object.assign(new Error(error), { code: error }),
      written ?? Buffer.byteLength(next.text),
    );
  };
  return { log, writes, finish, dropped: () => dropped };
}

describe('the audit log', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('gathers lines for 50 ms and writes them at once', () => {
    const { log, writes } = slowDisk();
    log.log('a\n');
    log.log('b\n');
    expect(writes).toHaveLength(0);
    vi.advanceTimersByTime(50);
    expect(writes.map(({ text }) => text)).toEqual(['a\nb\n']);
  });

  it('does not wait once 64 KiB are there', () => {
    const { log, writes } = slowDisk();
    const line = `${'x'.repeat(1023)}\n`;
    for (let i = 0; i < 64; i++) log.log(line);
    expect(writes).toHaveLength(1);
  });

  it('has one write under way at a time and keeps the order', () => {
    const { log, writes, finish } = slowDisk();
    log.log('a\n');
    vi.advanceTimersByTime(50);
    log.log('b\n');
    vi.advanceTimersByTime(500);
    expect(writes.map(({ text }) => text)).toEqual(['a\n']);
    finish();
    vi.advanceTimersByTime(50);
    expect(writes.map(({ text }) => text)).toEqual(['b\n']);
  });

  it('drops and counts what does not fit while the disk hangs', () => {
    const { log, writes, finish, dropped } = slowDisk();
    const line = `${'x'.repeat(1023)}\n`;
    for (let i = 0; i < 5000; i++) log.log(line);
    expect(writes).toHaveLength(1);
    let written = '';
    for (; writes.length > 0 && written.length < 1e7; finish()) written += writes[0]?.text;
    vi.advanceTimersByTime(50);
    written += writes[0]?.text ?? '';
    expect(written.length).toBeGreaterThan(900 * 1024);
    expect(written.length).toBeLessThan(1200 * 1024);
    expect(written.length / 1024 + dropped()).toBe(5000);
  });

  it('counts what a full disk did not take, and does not run a torn line into the next', () => {
    const { log, writes, finish, dropped } = slowDisk();
    for (const line of ['one\n', 'two\n', 'three\n']) log.log(line);
    vi.advanceTimersByTime(50);
    finish(null, 6);
    expect(writes.map(({ text }) => text)).toEqual(['o\nthree\n']);
    finish('ENOSPC');
    expect(dropped()).toBe(2);
    log.log('four\n');
    vi.advanceTimersByTime(50);
    expect(writes.map(({ text }) => text)).toEqual(['\nfour\n']);
    finish();
    log.log('five\n');
    vi.advanceTimersByTime(50);
    expect(writes.map(({ text }) => text)).toEqual(['five\n']);
    expect(dropped()).toBe(2);
  });

  it('is drained when all is written', async () => {
    const { log, writes, finish } = slowDisk();
    let drained = false;
    log.log('a\n');
    const waiting = log.drained().then(() => (drained = true));
    log.log('b\n');
    finish();
    await Promise.resolve();
    await Promise.resolve();
    expect(writes.map(({ text }) => text)).toEqual(['b\n']);
    expect(drained).toBe(false);
    finish();
    await waiting;
    expect(drained).toBe(true);
  });
});
