import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { readSysctl } from '../../../src/kernel/sysctl.js';
import { BareSandboxes } from '../../../src/sandboxes/bare.js';
import type { Sandbox } from '../../../src/sandboxes/sandbox.js';
import { inCheckout } from '../../lab/checkout.js';
import { run } from '../../lab/command.js';

/** Named as a lab is, so that the next lab sweeps away what a crash of this leaves. */
const instance = `te${process.pid}n0-bare`;
const hash = '0123456789abcdef0123';
const name = `${instance}-${hash}`;
const other = `${instance}-b`;
const longer = `${instance}x-${hash}`;
const dns = { servers: ['172.31.0.2'], search: ['ec2.internal'], hostname: 'web' };

const bare = new BareSandboxes(instance);
const opened: Sandbox[] = [];

async function create(change: Partial<Parameters<BareSandboxes['create']>[0]> = {}): Promise<Sandbox> {
  const sandbox = await bare.create({ name, dns: null, hosts: [], ...change });
  opened.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  for (const { namespace } of opened.splice(0)) namespace.close();
  for (const each of [name, other, longer]) await bare.remove(each);
});

describe('a bare sandbox', () => {
  it('is a namespace under its name, known to ip netns, that forwards nothing', async () => {
    const { record, namespace } = await create();
    expect(record).toEqual({
      kind: 'netns',
      owned: true,
      containerId: null,
      pid: null,
      netns: `/run/netns/${name}`,
      cookie: String(namespace.cookie),
    });
    expect(readSysctl(namespace, 'net/ipv4/ip_forward')).toBe('0');
    const links = JSON.parse(await run('ip', ['-j', '-n', name, 'link'])) as { ifname: string }[];
    expect(links.map(({ ifname }) => ifname)).toContain('lo');
    expect(existsSync(`/etc/netns/${name}`)).toBe(false);
  });

  it('is the same one when it is made again', async () => {
    const first = await create();
    const second = await create();
    expect(second.record).toEqual(first.record);
  });

  it('is made anew over what a reboot left', async () => {
    mkdirSync('/run/netns', { recursive: true });
    writeFileSync(`/run/netns/${name}`, '');
    const { namespace } = await create();
    expect(namespace.visit(() => readFileSync('/proc/thread-self/net/dev', 'utf8'))).toContain('lo:');
  });

  it('shows its resolver files to whatever ip netns exec starts', async () => {
    await create({ dns, hosts: ['web:172.31.13.14'] });
    const show = (file: string) => run('ip', ['netns', 'exec', name, 'cat', `/etc/${file}`]);
    expect(await show('resolv.conf')).toBe('search ec2.internal\nnameserver 172.31.0.2\n');
    expect(await show('hosts')).toContain('172.31.13.14\tweb\n');
  });

  it('keeps no resolver file of an earlier task', async () => {
    await create({ dns, hosts: ['web:172.31.13.14'] });
    await create({ dns: { servers: ['172.31.0.3'], search: [], hostname: null } });
    expect(readdirSync(`/etc/netns/${name}`)).toEqual(['resolv.conf']);
    await create();
    expect(existsSync(`/etc/netns/${name}`)).toBe(false);
  });

  it('is removed with its files, and absent the next time', async () => {
    await create({ dns });
    expect(await bare.remove(name)).toBe(true);
    expect(existsSync(`/run/netns/${name}`)).toBe(false);
    expect(existsSync(`/etc/netns/${name}`)).toBe(false);
    expect(await bare.remove(name)).toBe(false);
  });

  it('loses its files although its name is gone already', async () => {
    await create({ dns });
    await run('ip', ['netns', 'delete', name]);
    expect(await bare.remove(name)).toBe(false);
    expect(existsSync(`/etc/netns/${name}`)).toBe(false);
  });
});

describe("the list of an instance's bare sandboxes", () => {
  it('has what bears its name and a hash, and nothing else', async () => {
    await create();
    await run('ip', ['netns', 'add', other]);
    await run('ip', ['netns', 'add', longer]);
    expect(await bare.list()).toEqual([{ name, hash, pinned: true }]);
  });

  it('has those, too, of which a reboot left the files', async () => {
    await create({ dns });
    await run('ip', ['netns', 'delete', name]);
    expect(await bare.list()).toEqual([{ name, hash, pinned: false }]);
    rmSync(`/etc/netns/${name}`, { recursive: true });
    expect(await bare.list()).toEqual([]);
  });
});

describe('the processes in a bare sandbox', () => {
  it('are those that are in it now', async () => {
    await create();
    expect(await bare.occupants(name)).toEqual([]);
    const child = spawn('nsenter', [`--net=/run/netns/${name}`, 'sh', '-c', 'echo in; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(await bare.occupants(name)).toEqual([child.pid]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await bare.occupants(name)).toEqual([]);
  });

  it('are also those that may not be looked at, when they see its links', async () => {
    await create();
    await run('ip', ['-n', name, 'link', 'add', 'telltale', 'type', 'bridge']);
    const asNobody = ['setpriv', '--reuid=65534', '--clear-groups', 'sh', '-c', 'echo in; exec sleep 60'];
    const child = spawn('nsenter', [`--net=/run/netns/${name}`, ...asNobody], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const program = `
      const [, folder, path] = process.argv;
      const { openNamespace } = await import(folder + '/kernel/namespaces.js');
      const { occupants } = await import(folder + '/sandboxes/occupants.js');
      console.log(JSON.stringify(await occupants(openNamespace(path))));`;
    const node = [process.execPath, '--input-type=module', '--eval', program, inCheckout('dist'), `/run/netns/${name}`];
    const seen = await run('setpriv', ['--bounding-set=-sys_ptrace', '--', ...node]);
    expect(JSON.parse(seen)).toEqual([child.pid]);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('are none when there is no such namespace', async () => {
    expect(await bare.occupants(other)).toEqual([]);
  });
});
