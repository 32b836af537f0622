import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pinReach } from '../../src/kernel/pin-reach.js';
import { isPinned, pinNamespace, pinPath, pinnedNames, repinNamespace, unpinNamespace } from '../../src/kernel/pins.js';
import { World, run } from './world.js';

describe('a pinned namespace', () => {
  let world: World;
  let name: string;
  beforeEach(() => {
    world = new World();
    name = world.unusedName();
  });
  afterEach(() => world.close());

  it('is found by ip netns, with lo up and forwarding off', async () => {
    const namespace = await pinNamespace(name);
    namespace.close();
    expect(world.ip(name, '-br', 'link', 'show', 'lo')).toContain('LOOPBACK,UP');
    expect(world.exec(name, 'sysctl', '-n', 'net.ipv4.ip_forward').trim()).toBe('0');
    expect(pinnedNames()).toContain(name);
  });

  it('is made once however many ask', async () => {
    const namespaces = await Promise.all(Array.from({ length: 8 }, () => pinNamespace(name)));
    expect(new Set(namespaces.map((namespace) => namespace.cookie)).size).toBe(1);
    for (const namespace of namespaces) namespace.close();
  });

  it('is made over the empty file that a reboot leaves, and over nothing else', async () => {
    writeFileSync(pinPath(name), '');
    expect(isPinned(name)).toBe(false);
    (await pinNamespace(name)).close();
    expect(isPinned(name)).toBe(true);
    await unpinNamespace(name);
    writeFileSync(pinPath(name), 'not ours');
    await expect(pinNamespace(name)).rejects.toThrow('is not a network namespace');
    await expect(unpinNamespace(name)).rejects.toThrow('is not a network namespace');
    execFileSync('rm', [pinPath(name)]);
  });

  it('is removed once, and its file with it', async () => {
    (await pinNamespace(name)).close();
    expect(await unpinNamespace(name)).toBe(true);
    expect(existsSync(pinPath(name))).toBe(false);
    expect(await unpinNamespace(name)).toBe(false);
  });

  it('is removed also where two were mounted over each other', async () => {
    const first = await pinNamespace(name);
    run('mount', '--bind', `/proc/${process.pid}/fd/${first.fd}`, pinPath(name));
    first.close();
    expect(await unpinNamespace(name)).toBe(true);
    expect(existsSync(pinPath(name))).toBe(false);
  });

  it('gets its name back while it is still open', async () => {
    const namespace = await pinNamespace(name);
    await unpinNamespace(name);
    repinNamespace(name, namespace);
    expect(world.open(name).cookie).toBe(namespace.cookie);
    namespace.close();
  });

  it('is never the namespace of the service itself, whoever gave that a name', async () => {
    run('ip', 'netns', 'attach', name, String(process.pid));
    await expect(pinNamespace(name)).rejects.toThrow('is the namespace of the service itself');
  });

  it.each(['', '../x', 'a/b', '.', 'x y'])('is never called %j', async (bad) => {
    await expect(pinNamespace(bad)).rejects.toThrow('cannot name a namespace');
  });
});

describe('whether pins reach the host', () => {
  let other: ChildProcess;
  const inMountNamespace = async (propagation: string) => {
    other = spawn('unshare', ['--mount', '--propagation', propagation, 'sleep', '60'], { stdio: 'ignore' });
    const mounts = () => execFileSync('readlink', [`/proc/${other.pid}/ns/mnt`], { encoding: 'utf8' });
    const own = execFileSync('readlink', ['/proc/self/ns/mnt'], { encoding: 'utf8' });
    await vi.waitFor(() => expect(mounts()).not.toBe(own));
    await vi.waitFor(() =>
      expect(execFileSync('cat', [`/proc/${other.pid}/comm`], { encoding: 'utf8' })).toBe('sleep\n'),
    );
    return pinReach(other.pid);
  };
  afterEach(() => void other?.kill());

  it('is plain in one and the same mount namespace', () => {
    expect(pinReach(process.pid)).toMatchObject({ reaches: true });
  });

  it('is seen where /run/netns propagates', async () => {
    expect(await inMountNamespace('unchanged')).toMatchObject({
      reaches: true,
      detail: expect.stringContaining('propagates'),
    });
  });

  it('is denied where it does not', async () => {
    expect(await inMountNamespace('private')).toMatchObject({
      reaches: false,
      detail: expect.stringContaining('rshared'),
    });
  });

  it('is unknown when the host cannot be looked at', () => {
    expect(pinReach(0x3fffffff)).toMatchObject({ reaches: null });
  });

  it('leaves no probe behind', () => {
    expect(pinnedNames().filter((name) => name.includes('probe'))).toEqual([]);
  });
});
