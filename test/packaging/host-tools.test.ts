import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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

  it('is marked by a rule that udev can read', async () => {
    const rule = readFileSync(inCheckout('deploy/host-tools/99-zz-task-eni.rules'), 'utf8');
    const lines = rule.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines) expect(line).toMatch(/^([A-Z]+(\{\w+\})?(==|!=|=)"[^"]*"(, |$))+$/);
    expect(readFileSync(inCheckout('deploy/host-tools/05-task-eni.network'), 'utf8')).toContain('Property=TASK_ENI=1');
  });
});
