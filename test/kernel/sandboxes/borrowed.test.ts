import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxRequest } from '../../../src/attachments/request.js';
import { isErrno } from '../../../src/kernel/errno.js';
import { openNamespace } from '../../../src/kernel/namespaces.js';
import { type ForbiddenNamespace, borrow } from '../../../src/sandboxes/borrowed.js';
import type { Sandbox } from '../../../src/sandboxes/sandbox.js';
import { run } from '../../lab/command.js';

/** Named as a lab is, so that the next lab sweeps away what a crash of this leaves. */
const name = `te${process.pid}n0-borrow`;
const odd = `${name}-odd`;
const netns = (path: string): SandboxRequest => ({ kind: 'netns', path });
const unusable = (detail: string | RegExp) => ({
  code: 'unusable-sandbox',
  detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
});

/** No container is asked for here. */
const noDocker = { inspect: () => Promise.reject(new Error('not here')) };
let forbidden: ForbiddenNamespace[];
let child: ChildProcess | undefined;
const opened: Sandbox[] = [];

async function resolve(request: SandboxRequest): Promise<Sandbox> {
  const sandbox = await borrow(request, noDocker, forbidden);
  opened.push(sandbox);
  return sandbox;
}

function cookieAt(path: string): bigint {
  const namespace = openNamespace(path);
  const { cookie } = namespace;
  namespace.close();
  return cookie;
}

/** A process in the namespace. */
async function enter(program = 'exec sleep 60'): Promise<number> {
  child = spawn('nsenter', [`--net=/run/netns/${name}`, 'sh', '-c', `echo in; ${program}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child.pid!;
}

beforeEach(async () => {
  forbidden = [];
  await run('ip', ['netns', 'add', name]);
});
afterEach(async () => {
  for (const { namespace } of opened.splice(0)) namespace.close();
  child?.kill('SIGKILL');
  child = undefined;
  rmSync(`/run/netns/${odd}`, { force: true });
  await run('ip', ['netns', 'delete', name]);
});

describe("a caller's namespace", () => {
  it.each(['/run/netns', '/var/run/netns'])('is opened by its name under %s', async (folder) => {
    const path = `${folder}/${name}`;
    const { record, namespace } = await resolve(netns(path));
    const cookie = String(cookieAt(`/run/netns/${name}`));
    expect(record).toEqual({ kind: 'netns', owned: false, containerId: null, pid: null, netns: path, cookie });
    expect(String(namespace.cookie)).toBe(cookie);
  });

  it("is opened by a name in Docker's folder", async () => {
    const made = mkdirSync('/var/run/docker/netns', { recursive: true });
    const path = `/var/run/docker/netns/${odd}`;
    writeFileSync(path, '');
    await run('mount', ['--bind', `/run/netns/${name}`, path]);
    try {
      expect((await resolve(netns(path))).namespace.cookie).toBe(cookieAt(`/run/netns/${name}`));
    } finally {
      await run('umount', ['--lazy', path]);
      rmSync(made ?? path, { recursive: true });
    }
  });

  it('is opened by a process in it, as a pid or as its path', async () => {
    const pid = await enter();
    const cookie = String(cookieAt(`/run/netns/${name}`));
    const path = `/proc/${pid}/ns/net`;
    expect((await resolve({ kind: 'pid', pid })).record).toMatchObject({ kind: 'pid', pid, netns: path, cookie });
    expect((await resolve(netns(path))).record).toMatchObject({ kind: 'netns', pid: null, netns: path, cookie });
  });

  it.each([
    '/etc/passwd',
    '/run/netns',
    '/run/netns/',
    '/run/netns/..',
    '/run/netns/.',
    `/run/netns/../netns/${name}`,
    `/run/netns//${name}`,
    `/run/../run/netns/${name}`,
    '/proc/self/ns/net',
    '/proc/thread-self/ns/net',
    '/proc/1/ns/mnt',
    '/proc/01/ns/net',
    '/proc/1/../1/ns/net',
    '/proc/1/task/1/ns/net',
    `run/netns/${name}`,
  ])('is not looked for at %s', async (path) => {
    await expect(resolve(netns(path))).rejects.toMatchObject(
      unusable(
        `${path} is not a name under /run/netns, /var/run/netns or /var/run/docker/netns, and not /proc/<pid>/ns/net`,
      ),
    );
  });

  it('is refused when nothing is there', async () => {
    const path = `/run/netns/${odd}`;
    await expect(resolve(netns(path))).rejects.toMatchObject(unusable(`${path} does not exist`));
    const long = `/run/netns/${'a'.repeat(300)}`;
    await expect(resolve(netns(long))).rejects.toMatchObject(unusable(/ENAMETOOLONG$/));
  });

  it.each<[string, (path: string) => unknown]>([
    ['a plain file', (path) => writeFileSync(path, 'no namespace')],
    ['a folder', (path) => mkdirSync(path)],
    ['a FIFO', (path) => run('mkfifo', [path])],
    ['a link to a namespace', (path) => symlinkSync(`/run/netns/${name}`, path)],
    ["a link to the service's own namespace", (path) => symlinkSync('/proc/self/ns/net', path)],
    ['a device', (path) => run('mknod', [path, 'c', '1', '3'])],
  ])('is refused at once when it is %s', async (_what, make) => {
    const path = `/run/netns/${odd}`;
    await make(path);
    try {
      await expect(resolve(netns(path))).rejects.toMatchObject(unusable(`${path} is not a network namespace`));
    } finally {
      rmSync(path, { recursive: true });
    }
  });

  it('is refused when it is a namespace of another kind', async () => {
    const path = `/run/netns/${odd}`;
    writeFileSync(path, '');
    await run('mount', ['--bind', '/proc/self/ns/uts', path]);
    try {
      await expect(resolve(netns(path))).rejects.toMatchObject(unusable(`${path} is not a network namespace`));
    } finally {
      await run('umount', ['--lazy', path]);
    }
  });
});

describe('a process that lends its namespace', () => {
  it('is refused when there is none of that number', async () => {
    const pid = await enter('exit 0');
    if (child!.exitCode === null) await once(child!, 'exit');
    await expect(resolve({ kind: 'pid', pid })).rejects.toMatchObject(unusable(`there is no process ${pid}`));
    await expect(resolve(netns(`/proc/${pid}/ns/net`))).rejects.toMatchObject(unusable(`there is no process ${pid}`));
  });

  it('is refused when it has ended and was not waited for', async () => {
    // Its parent, exec'd over the shell that started it, does not know of it.
    const pid = await enter('sh -c "exit 0" & exec sleep 60');
    const zombie = await expect
      .poll(async () => (await run('ps', ['-o', 'pid=,stat=', '--ppid', String(pid)])).match(/(\d+)\s+Z/)?.[1])
      .toBeDefined()
      .then(async () => (await run('ps', ['-o', 'pid=', '--ppid', String(pid)])).trim());
    await expect(resolve({ kind: 'pid', pid: Number(zombie) })).rejects.toMatchObject(
      unusable(/is that of a process that has ended$|cannot be opened: EACCES$/),
    );
  });
});

describe('a namespace that no task may have', () => {
  beforeEach(() => {
    forbidden = [
      { cookie: cookieAt('/proc/thread-self/ns/net'), what: "the service's own network namespace" },
      { cookie: cookieAt(`/run/netns/${name}`), what: "that of the service's bridge" },
    ];
  });

  it.each<[SandboxRequest, RegExp]>([
    [netns(`/run/netns/${name}`), /^\/run\/netns\/\S+ is that of the service's bridge$/],
    [{ kind: 'pid', pid: process.pid }, /^the namespace of process \d+ is the service's own network namespace$/],
  ])('is refused by whatever name: %o', async (request, sentence) => {
    await expect(resolve(request)).rejects.toMatchObject(unusable(sentence));
  });

  it.each<SandboxRequest>([netns('/proc/1/ns/net'), { kind: 'pid', pid: 1 }])(
    'is refused when it is that of process 1, which not every kernel lets root open: %o',
    async (request) => {
      try {
        forbidden = [{ cookie: cookieAt('/proc/1/ns/net'), what: 'that of process 1' }];
      } catch (error) {
        if (!isErrno(error, 'EACCES')) throw error;
      }
      await expect(resolve(request)).rejects.toMatchObject(unusable(/is that of process 1$|cannot be opened: EACCES$/));
    },
  );

  it('is refused by the pid of whoever is in it', async () => {
    const pid = await enter();
    await expect(resolve({ kind: 'pid', pid })).rejects.toMatchObject(unusable(/bridge$/));
  });
});
