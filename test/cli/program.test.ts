/** The built program as a shell runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Listeners } from '../../src/api/listeners.js';
import type { TaskId } from '../../src/attachments/task-id.js';
import { type ApiApp, makeApiApp } from '../api/api-app.js';
import { inCheckout } from '../lab/checkout.js';
import { readyRecord } from '../unit/api/sample-record.js';

const many = 500;
let folder: string;
let api: ApiApp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'task-eni-program-'));
  api = await makeApiApp({ apiSocket: join(folder, 'api.sock'), apiAddress: null });
  await api.app.get(Listeners).start(api.app.getHttpAdapter().getInstance());
  for (let n = 0; n < many; n += 1)
    api.attachments.put({ ...readyRecord, taskId: `task-${n}` as TaskId, hash: `${n}`, warnings: ['w'.repeat(2000)] });
});
afterAll(async () => {
  await api.app.get(Listeners).stop();
  await api.app.close();
  rmSync(folder, { recursive: true });
});

const start = (args: string[], out: 'pipe' | number = 'pipe') =>
  spawn(process.execPath, [inCheckout('dist/main.js'), ...args], {
    stdio: ['ignore', out, 'pipe'],
    env: { TASK_ENI_API_SOCKET: join(folder, 'api.sock') },
  });

async function ended(program: ChildProcess): Promise<{ code: number; out: string; err: string }> {
  const exit = once(program, 'close') as Promise<[number]>;
  const read = (stream: Readable | null) => (stream === null || stream.destroyed ? '' : text(stream));
  const [out, err] = await Promise.all([read(program.stdout), read(program.stderr)]);
  const [code] = await exit;
  return { code, out, err };
}

describe('task-eni', () => {
  it.each(['help', '--help', '-h', 'help serve', 'serve --help', 'status --help', 'doctor -h'])(
    '%s prints its usage, and that is no fault',
    async (line) => {
      const { code, out, err } = await ended(start(line.split(' ')));
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^Usage: task-eni <command>\n/);
      for (const command of ['serve', 'status', 'doctor']) expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
    },
  );

  it.each([
    ['', 'a command is missing'],
    ['serv', 'there is no command "serv"'],
    ['serve now', 'serve takes no arguments'],
    ['--halp', "Unknown option '--halp'"],
  ])('%s is refused with 2 and the reason', async (line, reason) => {
    const { code, out, err } = await ended(start(line.split(' ').filter(Boolean)));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(reason);
    expect(err).toContain('Usage: task-eni');
  });

  it('gives all of a long answer to a reader that is slow', async () => {
    const program = start(['status', '--json']);
    // The reader takes its time: what the pipe does not hold waits in the program meanwhile.
    await once(program.stdout ?? program, 'readable');
    await delay(200);
    const { code, out } = await ended(program);
    expect(code).toBe(0);
    // More than a pipe or a socket holds.
    expect(out.length).toBeGreaterThan(512 * 1024);
    expect((JSON.parse(out) as { tasks: unknown[] }).tasks).toHaveLength(many);
  });

  it.skipIf(!existsSync('/dev/full'))('fails when its answer cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const program = start(['status'], full);
    closeSync(full);
    const { code, err } = await ended(program);
    expect([code, err]).toEqual([1, expect.stringMatching(/^standard output cannot be written: ENOSPC/)]);
  });

  it.each(['status', 'status --json'])('%s ends quietly when nobody reads on', async (line) => {
    const program = start(line.split(' '));
    program.stdout?.destroy();
    expect(await ended(program)).toEqual({ code: 0, out: '', err: '' });
  });
});
