/** A machine with systemd as process 1, to try for real what is installed on hosts: units, their sandboxing, their restarts. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import type { Lab } from '../lab/lab.js';

const program = ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].find((path) => existsSync(path));
const cgroups = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((path) => existsSync(`${path}/cgroup.procs`));

/** Why there can be no machine here; undefined when there can. */
export function missingForMachine(): string | undefined {
  if (program === undefined) return 'systemd is not installed';
  if (cgroups === undefined) return 'there is no cgroup2 hierarchy';
  return undefined;
}

export class Machine {
  private constructor(
    private readonly init: number,
    private readonly process: ChildProcess,
    private readonly cgroup: string,
  ) {}

  /**
   * Boots in the network namespace of the lab's host. Its root is this machine's, and what it writes there is forgotten; at
   * `/mnt/<name>` it has the folders of `mounts`. `/etc/systemd/system` is empty.
   */
  static async boot(lab: Lab, mounts: Readonly<Record<string, string>>): Promise<Machine> {
    const cgroup = `${cgroups}/task-eni-lab-${lab.id}-machine`;
    await mkdir(cgroup, { recursive: true });
    const work = `${lab.directory}/machine`;
    await mkdir(work);
    const settings = { CGROUP: cgroup, SYSTEMD: program ?? '', WORK: work };
    const folders = Object.entries(mounts).map(([name, path]) => `${name}=${path}`);
    const log = `${lab.directory}/machine.log`;
    await writeFile(log, '');
    const script = ['-c', 'exec sh "$0" "$@" >>"$LOG" 2>&1', inCheckout('test/packaging/boot.sh'), ...folders];
    const env = { PATH: process.env['PATH'] ?? '', LOG: log, ...settings };
    const child = lab.host.start('sh', script, { env, stdio: 'ignore' });
    const init = await bootedInit(child, log);
    return new Machine(init, child, cgroup);
  }

  /** Where a file of the machine's is for processes outside of it. */
  outside(path: string): string {
    return `/proc/${this.init}/root${path}`;
  }

  /** What the program printed. Throws CommandError unless it ends with 0. */
  run(command: string, ...args: string[]): Promise<string> {
    const namespaces = ['-m', '-n', '-C', '-u', '-i', '-p'];
    return run('nsenter', ['-t', `${this.init}`, ...namespaces, '-r', '-w', command, ...args], {
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    });
  }

  systemctl(...args: string[]): Promise<string> {
    return this.run('systemctl', '--no-pager', ...args);
  }

  /** One property of a unit (systemctl-show(1)). */
  async property(unit: string, name: string): Promise<string> {
    return (await this.systemctl('show', '--property', name, '--value', unit)).trim();
  }

  /** A request to the service's API over its socket; the answer's body. */
  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const sent = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const socket = ['--unix-socket', '/run/task-eni/api.sock'];
    const text = await this.run(
      'curl',
      '-sS',
      '--max-time',
      '30',
      ...socket,
      '-X',
      method,
      ...sent,
      `http://localhost${path}`,
    );
    return JSON.parse(text) as T;
  }

  /** Ends it with everything that runs in it: it is process 1 of a pid namespace. */
  async halt(): Promise<void> {
    this.process.kill('SIGKILL');
    const procs = `${this.cgroup}/cgroup.procs`;
    const deadline = Date.now() + 10_000;
    while (Date.now() < deadline && (existsSync(`/proc/${this.init}`) || (await readFile(procs, 'utf8')) !== ''))
      await sleep(20);
    await removeCgroup(this.cgroup);
  }
}

async function bootedInit(child: ChildProcess, log: string): Promise<number> {
  const deadline = Date.now() + 20_000;
  while (child.exitCode === null && Date.now() < deadline) {
    const [init] = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).split(' ');
    if (init && (await isBooted(Number(init)))) return Number(init);
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`systemd does not start:\n${(await readFile(log, 'utf8')).slice(-2000)}`);
}

async function isBooted(init: number): Promise<boolean> {
  const state = ['-t', `${init}`, '-m', '-p', '-r', 'systemctl', 'is-active', '--quiet', 'lab.target'];
  return run('nsenter', state).then(
    () => true,
    () => false,
  );
}

async function removeCgroup(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await removeCgroup(`${path}/${entry.name}`);
  await rmdir(path);
}
