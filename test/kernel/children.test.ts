import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import koffi from 'koffi';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FileLock, LockedError } from '../../src/kernel/file-lock.js';
import { processesRunning, stopProcess } from '../../src/kernel/processes.js';
import { spawnChild } from '../../src/kernel/spawn.js';
import { World } from './world.js';

describe('other processes', () => {
  let world: World;
  let name: string;
  let folder: string;
  const children: ChildProcess[] = [];
  beforeAll(() => {
    world = new World();
    name = world.add();
    folder = mkdtempSync(join(tmpdir(), 'tek-'));
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    world.close();
    rmSync(folder, { recursive: true });
  });

  const start = async (command: string, ...args: string[]) => {
    const child = spawn('ip', ['netns', 'exec', name, command, ...args], { stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    return child;
  };
  const sleeps = () => processesRunning(new Set(['sleep']), world.open(name));

  it('are born with what their stdio names and not one descriptor more', async () => {
    const open = koffi.load(null).func('int open(const char *path, int flags)');
    const leaky = [open('/dev/null', 0), open('/dev/null', 0)] as number[];
    const child = spawnChild('ls', ['/proc/self/fd'], {
      env: { PATH: '/bin:/usr/bin' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    // 3 is the folder that ls itself reads.
    expect(String(output).trim().split('\n')).toEqual(['0', '1', '2', '3']);
    for (const fd of leaky) closeSync(fd);
  });

  it('are born with no variable that was not named', async () => {
    const child = spawnChild('/usr/bin/env', [], { env: { ONLY: 'this' }, stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    expect(String(output)).toBe('ONLY=this\n');
  });

  it('are found by program and namespace', async () => {
    const child = await start('sleep', '61');
    children.push(spawn('sleep', ['61'], { stdio: 'ignore' }));
    await vi.waitFor(() =>
      expect(sleeps()).toMatchObject([{ pid: child.pid, program: 'sleep', argv: ['sleep', '61'] }]),
    );
    expect(processesRunning(new Set(['dhclient']), world.open(name))).toEqual([]);
    child.kill();
    await once(child, 'close');
  });

  it('are stopped, with force when they do not listen', async () => {
    const stubborn = await start('sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done');
    const shells = () => processesRunning(new Set(['dash', 'bash', 'sh']), world.open(name));
    await vi.waitFor(() => expect(shells()).toHaveLength(1));
    const [shell] = shells();
    expect(await stopProcess(shell!, 200)).toBe(true);
    if (stubborn.signalCode === null) await once(stubborn, 'close');
    expect(stubborn.signalCode).toBe('SIGKILL');
    expect(await stopProcess(shell!, 200)).toBe(false);
  });

  it('are spared when they only have the pid of the one that was meant', async () => {
    const child = await start('sleep', '62');
    await vi.waitFor(() => expect(sleeps()).toHaveLength(1));
    const [found] = sleeps();
    expect(await stopProcess({ ...found!, startTime: '1' }, 100)).toBe(false);
    expect(child.exitCode).toBeNull();
    expect(await stopProcess(found!, 1000)).toBe(true);
  });

  it('cannot take a lock that is held, and can when its holder has died', async () => {
    const path = join(folder, 'lock');
    const holder = spawn('flock', ['--no-fork', path, 'sleep', '60'], { stdio: 'ignore' });
    children.push(holder);
    await vi.waitFor(() => {
      expect(existsSync(path)).toBe(true);
      expect(() => FileLock.acquire(path).release()).toThrow(LockedError);
    });
    holder.kill('SIGKILL');
    await vi.waitFor(() => FileLock.acquire(path).release());
    const lock = FileLock.acquire(path);
    expect(() => FileLock.acquire(path)).toThrow(`locked by process ${process.pid}`);
    lock.release();
    FileLock.acquire(path).release();
  });
});
