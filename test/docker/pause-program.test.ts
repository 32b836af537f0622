import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../lab/command.js';
import { TestEngine } from './engine.js';

const build = fileURLToPath(new URL('../../deploy/pause/build.sh', import.meta.url));

let directory: string;
let program: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pause-'));
  program = join(directory, 'pause');
  await run(build, ['--binary', program, '--tar', join(directory, 'pause.tar')]);
});
afterAll(() => rm(directory, { recursive: true }));

describe('the pause program', () => {
  let outside: ChildProcess;
  /** Its pid as seen from outside: it is process 1 of a pid namespace. */
  let pid: number;

  const start = async () => {
    outside = spawn('unshare', ['--pid', '--fork', '--kill-child', program], { stdio: 'inherit' });
    const children = `/proc/${outside.pid}/task/${outside.pid}/children`;
    const waits = () => {
      pid = existsSync(children) ? Number(readFileSync(children, 'utf8')) : 0;
      return pid > 0 && /^Name:\tpause\n(?:.*\n)*?State:\tS/.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    };
    await expect.poll(waits).toBe(true);
  };
  afterEach(() => outside.kill('SIGKILL'));

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 on %s although it is process 1', async (signal) => {
    await start();
    const exit = once(outside, 'exit');
    process.kill(pid, signal);
    expect(await exit).toEqual([0, null]);
  });

  it('collects the children that others leave to it', async () => {
    await start();
    const inside = ['--target', String(pid), '--pid', 'sh', '-c'];
    // Each shell ends before its child, which is then process 1's.
    await Promise.all([1, 2, 3, 4].map(() => run('nsenter', [...inside, 'sleep 1 >/dev/null 2>&1 & true'])));
    const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    expect(children()).toHaveLength(4);
    await expect.poll(children, { timeout: 5_000 }).toEqual([]);
  });

  it('does nothing while nobody wants anything', async () => {
    await start();
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15)).toEqual(['0', '0']);
  });

  it('needs no library', async () => {
    expect(await run('sh', ['-c', `ldd ${program} 2>&1 || true`])).toMatch(/not a dynamic executable/);
    expect((await stat(program)).size).toBeLessThan(1_000_000);
  });
});

describe('the pause image', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await TestEngine.start();
  });
  afterAll(() => engine.stop());

  it('has nothing but the program, and runs it as nobody in particular', async () => {
    expect(await run('tar', ['--list', '--file', join(directory, 'pause.tar')])).toBe('pause\n');
    const image = `${engine.instance}-image:1`;
    await run(build, ['--import', image], { env: engine.environment() });
    try {
      expect(await engine.inspect(image, '.Config.Entrypoint')).toEqual(['/pause']);
      expect(await engine.inspect(image, '.Config.User')).toBe('65535:65535');
      const id = await engine.docker('run', '--detach', '--name', `${engine.instance}-a`, '--network', 'none', image);
      const started = Date.now();
      await engine.docker('stop', '--time', '30', id);
      expect(Date.now() - started).toBeLessThan(10_000);
      expect(await engine.inspect(id, '.State.ExitCode')).toBe(0);
    } finally {
      await engine.clean();
    }
  });

  it('is the same file each time it is built', async () => {
    const again = join(directory, 'again.tar');
    await run(build, ['--tar', again]);
    expect(readFileSync(again)).toEqual(readFileSync(join(directory, 'pause.tar')));
  });

  it('is built by no other options than those that are documented', async () => {
    await expect(run(build, ['--push'])).rejects.toMatchObject({
      code: 2,
      stderr: 'build.sh: unknown option --push\n',
    });
  });
});
