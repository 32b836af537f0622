import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecordStore } from '../../src/store/record-store.js';
import { writeAtomically } from '../../src/store/write-atomically.js';
import { record as example } from '../unit/attachments/example-records.js';

// Writes as ever, and counts.
vi.mock('../../src/store/write-atomically.js', async (original) => {
  const actual = await original<{ writeAtomically: typeof writeAtomically }>();
  return { ...actual, writeAtomically: vi.fn(actual.writeAtomically) };
});

describe('the store of records', () => {
  let directory: string;
  let store: RecordStore;
  beforeEach(async () => {
    directory = await mkdtemp(`${tmpdir()}/task-eni-store-`);
    store = await RecordStore.open(directory, pino({ enabled: false }));
    vi.mocked(writeAtomically).mockClear();
  });
  afterEach(() => rm(directory, { recursive: true }));

  const record = example();
  const changed = (warning: string) => ({ ...record, warnings: [warning] });
  const written = async () => JSON.parse(await readFile(`${directory}/tasks/${record.hash}.json`, 'utf8')) as unknown;

  it('lets who waits for the last of many changes wait for two writes', async () => {
    const saved = Array.from({ length: 30 }, (_, n) => store.save(changed(String(n)), 'crash'));
    await store.save(changed('last'), 'power-cut');
    expect(vi.mocked(writeAtomically).mock.calls.length).toBeLessThanOrEqual(2);
    expect(vi.mocked(writeAtomically).mock.lastCall?.[2], 'and the one that counts is synced').toBe(true);
    expect(await written()).toEqual(changed('last'));
    await Promise.all(saved);
  });

  it('makes one write of all that may wait, once something may not', async () => {
    const saved = Array.from({ length: 30 }, (_, n) => store.save(changed(String(n)), 'soon'));
    expect(store.get(record.hash), 'known at once').toEqual(changed('29'));
    await store.save(changed('last'), 'power-cut');
    expect(writeAtomically).toHaveBeenCalledOnce();
    expect(await written()).toEqual(changed('last'));
    await Promise.all(saved);
  });

  it('writes by itself what nobody waits for', async () => {
    void store.save(changed('left alone'), 'soon');
    await expect.poll(written).toEqual(changed('left alone'));
  });

  it('has everything on the disk once it is flushed', async () => {
    void store.save(changed('at the end'), 'soon');
    await store.flush();
    expect(await written()).toEqual(changed('at the end'));
  });

  it('writes what came while a write was under way', async () => {
    const first = store.save(changed('first'), 'crash');
    await expect.poll(() => vi.mocked(writeAtomically).mock.calls.length).toBe(1);
    const second = store.save(changed('second'), 'crash');
    await Promise.all([first, second]);
    expect(await written()).toEqual(changed('second'));
  });

  it('keeps a record that is saved while its forerunner is being removed', async () => {
    const before = [
      store.save(changed('old'), 'soon'),
      store.save(changed('older'), 'power-cut'),
      store.remove(record.hash),
    ];
    await store.save(changed('new'), 'power-cut');
    await Promise.all(before);
    expect(await written()).toEqual(changed('new'));
    await store.remove(record.hash);
    expect(await readdir(`${directory}/tasks`)).toEqual([]);
  });
});
