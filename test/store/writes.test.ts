import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import writeFileAtomic from 'write-file-atomic';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecordStore } from '../../src/store/record-store.js';
import { record as example } from '../unit/attachments/example-records.js';

// Writes as ever, and counts.
vi.mock('write-file-atomic', async (original) => {
  const { default: write } = await original<{ default: typeof writeFileAtomic }>();
  return { default: vi.fn(write) };
});

describe('the store of records', () => {
  let directory: string;
  let store: RecordStore;
  beforeEach(async () => {
    directory = await mkdtemp(`${tmpdir()}/task-eni-store-`);
    store = await RecordStore.open(directory, pino({ enabled: false }));
    vi.mocked(writeFileAtomic).mockClear();
  });
  afterEach(() => rm(directory, { recursive: true }));

  const record = example();
  const changed = (warning: string) => ({ ...record, warnings: [warning] });
  const written = async () => JSON.parse(await readFile(`${directory}/tasks/${record.hash}.json`, 'utf8')) as unknown;

  it('lets who waits for the last of many changes wait for two writes', async () => {
    const saved = Array.from({ length: 30 }, (_, n) => store.save(changed(String(n)), false));
    await store.save(changed('last'), true);
    expect(vi.mocked(writeFileAtomic).mock.calls.length).toBeLessThanOrEqual(2);
    expect(vi.mocked(writeFileAtomic).mock.lastCall?.[2], 'and the one that counts is synced').toMatchObject({
      fsync: true,
    });
    expect(await written()).toEqual(changed('last'));
    await Promise.all(saved);
  });

  it('writes what came while a write was under way', async () => {
    const first = store.save(changed('first'), false);
    await expect.poll(() => vi.mocked(writeFileAtomic).mock.calls.length).toBe(1);
    const second = store.save(changed('second'), false);
    await Promise.all([first, second]);
    expect(await written()).toEqual(changed('second'));
  });

  it('keeps a record that is saved while its forerunner is being removed', async () => {
    const before = [store.save(changed('old'), false), store.save(changed('older'), true), store.remove(record.hash)];
    await store.save(changed('new'), true);
    await Promise.all(before);
    expect(await written()).toEqual(changed('new'));
    await store.remove(record.hash);
    expect(await readdir(`${directory}/tasks`)).toEqual([]);
  });
});
