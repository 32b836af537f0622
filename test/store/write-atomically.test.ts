import { mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAtomically } from '../../src/store/write-atomically.js';

describe('a file that is replaced as a whole', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(`${tmpdir()}/task-eni-write-`);
  });
  afterEach(() => rm(directory, { recursive: true }));

  it.each([true, false])('is the new one, for its owner alone (synced: %s)', async (synced) => {
    const path = `${directory}/record.json`;
    await writeAtomically(path, 'a longer former one', synced);
    const former = await stat(path);
    await writeAtomically(path, 'new', synced);
    expect(await readFile(path, 'utf8')).toBe('new');
    const { mode, ino } = await stat(path);
    expect(mode & 0o777).toBe(0o600);
    expect(ino, 'another file: who has the former one open reads that to its end').not.toBe(former.ino);
    expect(await readdir(directory)).toEqual(['record.json']);
  });

  it('leaves no draft behind where it cannot be replaced', async () => {
    await mkdir(`${directory}/record.json`);
    await expect(writeAtomically(`${directory}/record.json`, 'new', true)).rejects.toThrow(/EISDIR/);
    expect(await readdir(directory)).toEqual(['record.json']);
  });
});
