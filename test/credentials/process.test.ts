import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../lab/command.js';
import type { TaskNamespace } from './bridge-world.js';
import { compileServer } from './compiled-server.js';
import { fetchIn } from './fetching.js';
import { RunningServer, descriptorsOf, entryFor, memoryOf, secret } from './running-server.js';

const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--'];

const script = new URL('clients/read-memory.py', import.meta.url);

/** As another process of nobody; the script comes by its standard input, since nobody cannot enter the checkout. */
function readAsNobody(pid: number): Promise<string> {
  return run('setpriv', [...nobody, '/usr/bin/python3', '-', String(pid)], { input: readFileSync(script, 'utf8') });
}

describe('the process of the credentials server', () => {
  let running: RunningServer;
  let task: TaskNamespace;

  beforeAll(async () => {
    running = await RunningServer.start();
    task = await running.world.addTask();
    await running.server.put(entryFor(task, 'web'));
  });
  afterAll(() => running.stop());

  it('serves from a folder that nobody can enter', async () => {
    expect(statSync(running.world.folder).mode & 0o777).toBe(0o700);
    expect((await fetchIn(task, '/v2/credentials/id-of-web')).codes).toEqual({ 200: 1 });
  });

  it('is nobody, without a capability, in every thread, for good', () => {
    const threads = readdirSync(`/proc/${running.pid()}/task`);
    expect(threads.length).toBeGreaterThan(1);
    for (const thread of threads) {
      const status = readFileSync(`/proc/${running.pid()}/task/${thread}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
      expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m);
      expect(status).toMatch(/^Groups:\s*$/m);
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
        expect(status).toMatch(new RegExp(`^${set}:\t0{16}$`, 'm'));
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    }
  });

  it('lives in the namespace of the bridge, with nothing of the environment of the service', () => {
    const namespaceOf = (path: string) => statSync(path).ino;
    expect(namespaceOf(`/proc/${running.pid()}/ns/net`)).toBe(namespaceOf(`/run/netns/${running.world.bridgeName}`));
    const names = readFileSync(`/proc/${running.pid()}/environ`, 'utf8').split('\0').filter(Boolean);
    expect(new Set(names.map((line) => line.split('=')[0]))).toEqual(
      new Set(['PATH', 'UV_THREADPOOL_SIZE', 'UV_USE_IO_URING']),
    );
    expect(readlinkSync(`/proc/${running.pid()}/cwd`)).toBe('/');
  });

  it('dumps no memory', () => {
    expect(Number.parseInt(readFileSync(`/proc/${running.pid()}/coredump_filter`, 'utf8'), 16)).toBe(0);
  });

  it('cannot be read by another process of nobody', async () => {
    const attempts = await readAsNobody(running.pid());
    expect(attempts.trim().split('\n')).toHaveLength(13);
    expect(attempts).not.toContain('READ');
    const own = spawn('setpriv', [...nobody, 'sleep', '60']);
    await expect.poll(() => readFileSync(`/proc/${own.pid}/cmdline`, 'utf8')).toMatch(/^sleep/);
    // The same attempts do read a process that was started as nobody.
    expect(await readAsNobody(Number(own.pid))).toContain('environ READ');
    own.kill();
  });

  it('holds its standard ones, its pipes, the audit log, sockets and what Node opens, and nothing else', () => {
    const pid = running.pid();
    const held = descriptorsOf(pid).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    const known = [
      /^\/dev\/null$/,
      /^socket:/,
      /^anon_inode:\[(eventpoll|eventfd|io_uring)\]$/,
      /^pipe:/,
      new RegExp(`^${running.auditLog}$`),
    ];
    expect(held.filter((target) => !known.some((pattern) => pattern.test(target)))).toEqual([]);
    expect(held.filter((target) => target === running.auditLog)).toHaveLength(1);
    // Standard output and error, the pipe each way, and the socket that listens.
    expect(held.filter((target) => target.startsWith('socket:')).length).toBeLessThanOrEqual(5);
    expect(lstatSync(`/proc/${pid}/fd/6`).mode & 0o400, 'the audit log is open for writing alone').toBe(0);
  });

  it('opens no inspector and does not die of a signal that groups of processes get', async () => {
    const pid = running.pid();
    for (const signal of ['SIGUSR1', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
    expect((await fetchIn(task, '/v2/credentials/id-of-web')).codes).toEqual({ 200: 1 });
    expect(running.pid()).toBe(pid);
    const listeners = await run('nsenter', [`--net=/run/netns/${running.world.bridgeName}`, 'ss', '-Hltn']);
    expect(listeners.trim().split('\n')).toHaveLength(1);
    expect(listeners).toContain('169.254.170.2:80');
  });

  it('needs less than 50 MiB while nothing is asked', () => {
    expect(memoryOf(running.pid()).rss).toBeLessThan(50 * 1024);
  });

  it('has its secrets in no file, command line or word that it says', () => {
    expect(readFileSync(`/proc/${running.pid()}/cmdline`, 'utf8')).not.toContain(secret);
    expect(running.log.join('')).not.toContain(secret);
    expect(readFileSync(running.auditLog, 'utf8')).not.toContain(secret);
  });
});

describe('a credentials server', () => {
  it('refuses to serve with privileges, before it has read a message', async () => {
    const running = new RunningServer(await (await import('./bridge-world.js')).BridgeWorld.make());
    const entry = compileServer(running.world.folder);
    const child = spawn(process.execPath, [entry], { stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] });
    let words = '';
    child.stderr?.on('data', (chunk) => (words += chunk));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(1);
    expect(words).toBe('privileges were not dropped: no_new_privs is not set\n');
    await running.world.remove();
  });

  it('drops its privileges in every thread where Node refuses to, as that of Debian 13 does', async () => {
    const world = await (await import('./bridge-world.js')).BridgeWorld.make();
    const refusal = "{ throw Object.assign(new Error('io_uring may be enabled'), { code: 'ERR_INVALID_STATE' }); }";
    const refusing = ['--import', `data:text/javascript,process.setgroups = () => ${refusal}`];
    const server = ['--no-new-privs', process.execPath, ...refusing, compileServer(world.folder)];
    const child = spawn('setpriv', server, { stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'] });
    const threads = () =>
      readdirSync(`/proc/${child.pid}/task`).map((thread) => {
        const status = readFileSync(`/proc/${child.pid}/task/${thread}/status`, 'utf8');
        return /^Uid:\s*(.*)$/m.exec(status)?.[1] + ' ' + /^Groups:[ \t]*(.*?)[ \t]*$/m.exec(status)?.[1];
      });
    const dropped = '65534\t65534\t65534\t65534 ';
    await expect.poll(() => new Set(threads()), { timeout: 10_000 }).toEqual(new Set([dropped]));
    child.kill('SIGKILL');
    await world.remove();
  });

  it('ends when its parent does', async () => {
    const running = await RunningServer.start();
    const pid = running.pid();
    await running.server.stop();
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    await running.world.remove();
  });
});
