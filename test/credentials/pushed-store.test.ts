import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PushedStore } from '../../src/credentials/pushed-store.js';
import { credentialsFor } from './running-server.js';

describe('the folder of pushed credentials', () => {
  let folder: string;

  beforeEach(() => (folder = mkdtempSync('/dev/shm/tecred-')));
  afterEach(() => rmSync(folder, { recursive: true }));

  const keyOf = async (store: PushedStore, hash: string) => (await store.load(hash))?.accessKeyId;

  it('holds nothing when it is on a disk', async () => {
    const onDisk = mkdtempSync('/var/tmp/tecred-');
    try {
      expect(await new PushedStore(onDisk, 'task-eni').keep('hash', credentialsFor('web'))).toBe(false);
      expect(existsSync(join(onDisk, 'credentials/hash.json'))).toBe(false);
      expect(readdirSync(join(onDisk, 'credentials'))).toEqual([]);
    } finally {
      rmSync(onDisk, { recursive: true });
    }
  });

  it('replaces what is there at once, and tells what cannot be read', async () => {
    const store = new PushedStore(folder, 'task-eni');
    await store.keep('hash', credentialsFor('one'));
    await store.keep('hash', credentialsFor('two'));
    expect(await keyOf(store, 'hash')).toBe('AKIDTWO');
    expect(await store.load('other')).toBeUndefined();
    mkdirSync(join(folder, 'credentials/folder.json'));
    await expect(store.load('folder')).rejects.toThrow('EISDIR');
    await store.discard('never-kept');
  });

  it('is one for each instance, so that none discards what another keeps there', async () => {
    const one = new PushedStore(folder, 'task-eni');
    const two = new PushedStore(folder, 'blue');
    await one.keep('hash-0', credentialsFor('web0'));
    await two.keep('hash-1', credentialsFor('web1'));
    await one.discardOthers(new Set(['hash-0']));
    await two.discardOthers(new Set(['hash-1']));
    await new PushedStore(folder, 'green').discardOthers(new Set());
    expect(await keyOf(one, 'hash-0')).toBe('AKIDWEB0');
    expect(await keyOf(two, 'hash-1')).toBe('AKIDWEB1');
  });

  it.each(['task-eni', 'blue'])(
    'still gives instance %s what a former version kept in one folder for all',
    async (name) => {
      // The default instance's folder is that of former versions.
      await new PushedStore(folder, 'task-eni').keep('hash', credentialsFor('web'));
      const store = new PushedStore(folder, name);
      await store.discardOthers(new Set(['hash']));
      expect(await keyOf(store, 'hash')).toBe('AKIDWEB');
      await store.keep('hash', credentialsFor('newer'));
      expect(await keyOf(store, 'hash')).toBe('AKIDNEWER');
      await store.discard('hash');
      expect(await store.load('hash')).toBeUndefined();
      expect(readdirSync(join(folder, 'credentials'))).toEqual([]);
    },
  );
});
