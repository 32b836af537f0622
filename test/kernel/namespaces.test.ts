import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { setNetworkNamespace } from '../../src/kernel/libc.js';
import { NotANamespaceError, openNamespace, ownNamespace } from '../../src/kernel/namespaces.js';
import { NetlinkSession } from '../../src/kernel/netlink.js';
import { spawnChild } from '../../src/kernel/spawn.js';
import { readSysctl, writeSysctl } from '../../src/kernel/sysctl.js';
import { World, run } from './world.js';

const threads = () =>
  new Set(readdirSync('/proc/self/task').map((task) => readlinkSync(`/proc/self/task/${task}/ns/net`)));
const descriptors = () => readdirSync('/proc/self/fd').length;

describe('a network namespace', () => {
  let world: World;
  let name: string;
  let folder: string;
  beforeAll(() => {
    world = new World();
    name = world.add();
    folder = mkdtempSync(join(tmpdir(), 'tek-'));
  });
  afterAll(() => {
    world.close();
    rmSync(folder, { recursive: true });
  });

  it('has one identity however it is opened, and shares it with no other', async () => {
    const inside = spawn('ip', ['netns', 'exec', name, 'sleep', '30'], { stdio: 'ignore' });
    await once(inside, 'spawn');
    const pin = world.open(name);
    await vi.waitFor(() => {
      const process = openNamespace(`/proc/${inside.pid}/ns/net`);
      process.close();
      expect(process.is(pin)).toBe(true);
    });
    inside.kill();
    const own = ownNamespace();
    expect(own.is(pin)).toBe(false);
    expect(world.open(world.add()).is(pin)).toBe(false);
    own.close();
  });

  it('gets another identity when it is made anew under the same name', () => {
    const again = world.add();
    const { cookie } = world.open(again);
    run('ip', 'netns', 'delete', again);
    run('ip', 'netns', 'add', again);
    expect(world.open(again).cookie).not.toBe(cookie);
  });

  it.each([
    ['a plain file', () => writeFileSync(join(folder, 'a plain file'), '')],
    ['a FIFO', () => execFileSync('mkfifo', [join(folder, 'a FIFO')])],
    ['a link to one', () => symlinkSync(`/run/netns/${name}`, join(folder, 'a link to one'))],
    ['a link to the service', () => symlinkSync('/proc/self/ns/net', join(folder, 'a link to the service'))],
    ['a device', () => symlinkSync('/dev/null', join(folder, 'unused'))],
  ])('is not %s', (what, make) => {
    make();
    const path = what === 'a device' ? '/dev/null' : join(folder, what);
    expect(() => openNamespace(path)).toThrow(NotANamespaceError);
  });

  it('is not a mount namespace, nor a folder, nor nothing', () => {
    expect(() => openNamespace('/proc/self/ns/mnt')).toThrow(NotANamespaceError);
    expect(() => openNamespace(folder)).toThrow(NotANamespaceError);
    expect(() => openNamespace(join(folder, 'nothing'))).toThrow(expect.objectContaining({ errno: 'ENOENT' }));
  });

  it('is left again when what was done inside throws', () => {
    const before = threads();
    expect(() =>
      world.open(name).visit(() => {
        throw new Error('inside');
      }),
    ).toThrow('inside');
    expect(threads()).toEqual(before);
  });

  it('ends the process when the thread cannot get back', () => {
    const home = openSync('/proc/thread-self/ns/net', 'r');
    const abort = vi.spyOn(process, 'abort').mockImplementation(() => {
      throw new Error('aborted');
    });
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const target = world.open(name);
    const closeEverythingElse = () => {
      for (const fd of readdirSync('/proc/self/fd').map(Number))
        if (fd > home && fd !== target.fd && linkOf(fd)?.startsWith('net:')) closeSync(fd);
    };
    expect(() => target.visit(closeEverythingElse)).toThrow('aborted');
    expect(abort).toHaveBeenCalledOnce();
    setNetworkNamespace(home);
    closeSync(home);
    vi.restoreAllMocks();
  });

  it('is visited a hundred times, eight at once, and leaves no thread or descriptor behind', async () => {
    const namespaces = Array.from({ length: 8 }, () => world.open(world.add()));
    const before = { threads: threads(), descriptors: descriptors() };
    const visitTwelveTimes = async (namespace: (typeof namespaces)[number], number: number) => {
      for (let round = 0; round < 12; round += 1) {
        writeSysctl(namespace, 'net/ipv4/ip_default_ttl', 100 + number);
        const session = NetlinkSession.open(namespace);
        const child = spawnChild('cat', ['/proc/sys/net/ipv4/ip_default_ttl'], {
          namespace,
          env: {},
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        const [links, output] = await Promise.all([
          session.links(),
          once(child.stdout as NodeJS.ReadableStream, 'data'),
          readFile('/proc/self/stat'),
        ]);
        session.close();
        expect(links.map((link) => link.name)).toEqual(['lo']);
        expect(String(output)).toBe(`${100 + number}\n`);
        expect(readSysctl(namespace, 'net/ipv4/ip_default_ttl')).toBe(`${100 + number}`);
        if (child.exitCode === null) await once(child, 'close');
      }
    };
    await Promise.all(namespaces.map(visitTwelveTimes));
    expect(threads()).toEqual(before.threads);
    await vi.waitFor(() => expect(descriptors()).toBe(before.descriptors));
  });

  it('cannot be entered once it is closed', () => {
    const namespace = openNamespace(`/run/netns/${name}`);
    const other = namespace.duplicate();
    namespace.close();
    namespace.close();
    expect(other.visit(() => readdirSync('/proc/self/task').length)).toBeGreaterThan(0);
    expect(other.cookie).toBe(namespace.cookie);
    other.close();
    expect(() => namespace.duplicate()).toThrow(expect.objectContaining({ errno: 'EBADF' }));
    expect(() => namespace.visit(() => 1)).toThrow(expect.objectContaining({ errno: 'EBADF' }));
  });
});

function linkOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
