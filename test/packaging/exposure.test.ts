import { existsSync, mkdirSync, mkdtempSync, copyFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';

const analyzer = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].some((path) => existsSync(path));
const unit = 'task-eni.service';

describe.skipIf(!analyzer)(`the unit${analyzer ? '' : ' (systemd-analyze is not installed)'}`, () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'task-eni-unit-'));
    copyFileSync(inCheckout(`deploy/systemd/${unit}`), join(folder, unit));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Rejects above the threshold, in tenths. */
  const analyze = (threshold: number) =>
    run('systemd-analyze', [
      'security',
      '--offline=true',
      '--no-pager',
      `--threshold=${threshold}`,
      join(folder, unit),
    ]);

  it('is exposed 4.9 at most', async () => {
    expect(await analyze(49)).not.toMatch(/✗.*AF_PACKET/);
  });

  it('is exposed 5.1 at most with what dhclient needs', async () => {
    mkdirSync(join(folder, `${unit}.d`));
    copyFileSync(inCheckout('deploy/systemd/dhclient.conf'), join(folder, `${unit}.d/dhclient.conf`));
    expect(await analyze(51)).toMatch(/✗.*AF_PACKET/);
  });
});
