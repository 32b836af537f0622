import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from './checkout.js';
import { CommandError, run } from './command.js';

const script = inCheckout('test/lab/install.sh');

describe('the installer of the packages that tests need', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(`${tmpdir()}/task-eni-install-`);
  });
  afterAll(() => rm(root, { recursive: true }));

  it('finds what this machine has, since these tests run', async () => {
    await run(script, ['--check', 'lab']);
  });

  it('names what is missing and fails, when it is required and only checked for', async () => {
    // A machine whose programs are a shell's and no more: its PATH is the last thing the script adds to.
    const programs = ['sh', 'id', 'echo', 'find', 'grep', 'test'];
    for (const name of programs) await symlink(`/usr/bin/${name}`, `${root}/${name}`).catch(() => undefined);
    const unshared = [
      '--mount',
      '--',
      'sh',
      '-c',
      `mount -t tmpfs none /usr/sbin && mount -t tmpfs none /sbin && PATH=${root} exec sh ${script} --check lab`,
    ];
    const failure: unknown = await run('unshare', unshared).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CommandError);
    expect(failure).toMatchObject({ code: 1 });
    expect((failure as CommandError).stderr).toMatch(/^missing: iproute2 .*dnsmasq-base .*isc-dhcp-client/);
    expect((failure as CommandError).stdout).toContain('missing, and optional: tcpdump');
  });

  it('refuses a set that it does not know', async () => {
    await expect(run(script, ['games'])).rejects.toThrow('unknown set games');
  });
});
