import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { CommandError, run } from '../lab/command.js';
import { Lab } from '../lab/lab.js';

const isTaskEni = inCheckout('deploy/host-tools/is-task-eni');
let lab: Lab;
let folder: string;
let primary: string;

beforeAll(async () => {
  folder = await mkdtemp(`${tmpdir()}/task-eni-host-tools-`);
  lab = await Lab.create({ name: 'host tools' });
  const [first] = await lab.host.ip('link', 'show', 'eth0');
  primary = first?.address ?? '';
});
afterAll(async () => {
  await lab?.destroy();
  await rm(folder, { recursive: true });
});

const env = () => ({
  PATH: process.env['PATH'] ?? '',
  TASK_ENI_OWN_ENI: `${folder}/own`,
  TASK_ENI_HOST_ENIS: `${folder}/host-enis`,
});
const judge = async (mac: string) => {
  try {
    await run(isTaskEni, [mac], { env: env() });
    return 'a task';
  } catch (error) {
    if (error instanceof CommandError && error.code === 1) return 'the host';
    throw error;
  }
};

describe('whose an ENI is, to the tools of the host', () => {
  it("is the host's while nobody knows which is the instance's own", async () => {
    expect(await judge('02:00:00:00:00:07')).toBe('the host');
  });

  it("is the host's when instance metadata says that it is the instance's own, and a task's otherwise", async () => {
    await lab.host.runWith({ env: env() }, inCheckout('deploy/host-tools/find-own-eni'), '--only-write');
    expect(readFileSync(`${folder}/own`, 'utf8')).toBe(`${primary}\n`);
    expect(await judge(primary)).toBe('the host');
    expect(await judge(primary.toUpperCase())).toBe('the host');
    expect(await judge('02:00:00:00:00:07')).toBe('a task');
  });

  it("is the host's when it is listed, in either notation, beside comments", async () => {
    await writeFile(`${folder}/host-enis`, '# storage\n02-00-00-00-00-AA  # second\n02:00:00:00:00:bb\n');
    expect(await judge('02:00:00:00:00:aa')).toBe('the host');
    expect(await judge('02:00:00:00:00:bb')).toBe('the host');
    expect(await judge('02:00:00:00:00:07')).toBe('a task');
  });

  it.skipIf(!existsSync('/usr/bin/udevadm') && !existsSync('/bin/udevadm'))(
    'is marked by the rule, as udev reads it',
    async () => {
      // lo has no driver. The mount namespace keeps the rule to this very call.
      const rule = readFileSync(inCheckout('deploy/host-tools/99-zz-task-eni.rules'), 'utf8')
        .replace(/DRIVERS=="[^"]*", /, '')
        .replace('/usr/local/lib/task-eni/is-task-eni', isTaskEni);
      await writeFile(`${folder}/99-zz-task-eni.rules`, rule);
      const script =
        'mount --bind "$0" /etc/udev/rules.d && mount --bind "$1" /run && udevadm test --action=add /sys/class/net/lo 2>&1';
      await mkdir(`${folder}/run/task-eni-host`, { recursive: true });
      const printed = () => run('unshare', ['--mount', 'sh', '-c', script, folder, `${folder}/run`]);
      expect(await printed()).not.toMatch(/^TASK_ENI=/m);
      await writeFile(`${folder}/run/task-eni-host/own`, `${primary}\n`);
      expect(await printed()).toMatch(/^NM_UNMANAGED=1$/m);
      expect(await printed()).toMatch(/^TASK_ENI=1$/m);
      expect(readFileSync(inCheckout('deploy/host-tools/05-task-eni.network'), 'utf8')).toContain(
        'Property=TASK_ENI=1',
      );
    },
  );
});
