/** What others than the service are to read keeps its mode under a umask that takes everything from them. */
import { mkdirSync, mkdtempSync, closeSync, chmodSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAuditFile } from '../../src/credentials/audit-file.js';
import { makeFolder } from '../../src/kernel/folder.js';
import { pinFolder, pinNamespace, pinPath, unpinNamespace } from '../../src/kernel/pins.js';
import { removeResolverFiles, resolverFolder, writeResolverFiles } from '../../src/sandboxes/resolver-files.js';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const name = `modes-${process.pid}`;

describe('under a umask of 077', () => {
  let folder: string;
  let umask: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'task-eni-modes-'));
    umask = process.umask(0o077);
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });

  it('a folder has the mode that it is made with, and one that is there keeps its own', () => {
    makeFolder(join(folder, 'one/two'), 0o755);
    expect(modeOf(join(folder, 'one/two'))).toBe('755');
    mkdirSync(join(folder, 'own'), { mode: 0o700 });
    makeFolder(join(folder, 'own'), 0o755);
    expect(modeOf(join(folder, 'own'))).toBe('700');
  });

  it('the audit log is read by its group, unless its owner has chosen otherwise', () => {
    const log = join(folder, 'audit/audit.log');
    closeSync(openAuditFile(log));
    expect([modeOf(join(folder, 'audit')), modeOf(log)]).toEqual(['750', '640']);
    chmodSync(log, 0o600);
    closeSync(openAuditFile(log));
    expect(modeOf(log)).toBe('600');
  });

  it('a pinned namespace is seen by everybody, as ip netns makes it', async () => {
    (await pinNamespace(name)).close();
    try {
      expect([modeOf(pinFolder), modeOf(pinPath(name))]).toEqual(['755', '444']);
    } finally {
      await unpinNamespace(name);
    }
  });

  it("a namespace's resolver files are read by whoever runs in it", async () => {
    await writeResolverFiles(name, [{ name: 'resolv.conf', content: 'nameserver 172.31.0.2\n' }]);
    try {
      const [folderOfName, file] = [join(resolverFolder, name), join(resolverFolder, name, 'resolv.conf')];
      expect([modeOf(folderOfName), modeOf(file)]).toEqual(['755', '644']);
    } finally {
      await removeResolverFiles(name);
    }
  });
});
