/** A machine in this one: namespaces of its own with a process 1, in the network of a lab's host, and control groups that end with it. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandOptions, run } from './command.js';
import { creatorLives, labIdIn } from './lab-id.js';
import type { Lab } from './lab.js';

const prefix = 'task-eni-lab-';
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface Boot {
  /** Names its log, and its control groups with the lab's id. */
  readonly name: string;
  /** A shell script that becomes its process 1, as only child of itself, once it has put itself into each of `$CGROUPS`. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Hierarchies in which it gets a control group. */
  readonly hierarchies: readonly string[];
  /** A command that ends with 0 in it as soon as it has booted. */
  readonly probe: readonly string[];
}

export interface Booted {
  readonly init: number;
  readonly process: ChildProcess;
  readonly cgroups: readonly string[];
}

export class InnerMachine {
  protected readonly booted: Booted;

  constructor(booted: Booted) {
    this.booted = booted;
  }

  static async boot(lab: Lab, boot: Boot): Promise<Booted> {
    await removeDeadCgroups(boot.hierarchies);
    const cgroups = boot.hierarchies.map((hierarchy) => `${hierarchy}/${prefix}${lab.id}-${boot.name}`);
    for (const cgroup of cgroups) await mkdir(cgroup);
    const work = `${lab.directory}/${boot.name}`;
    await mkdir(work);
    const log = `${lab.directory}/${boot.name}.log`;
    await writeFile(log, '');
    const env = { PATH: process.env['PATH'] ?? '', LOG: log, WORK: work, CGROUPS: cgroups.join(' '), ...boot.env };
    const command = ['-c', 'exec sh "$0" "$@" >>"$LOG" 2>&1', boot.script, ...(boot.args ?? [])];
    const child = lab.host.start('sh', command, { env, stdio: 'ignore' });
    return { init: await bootedInit(child, boot.probe, log), process: child, cgroups };
  }

  /** Where a file of the machine's is for processes outside of it. */
  outside(file: string): string {
    return `/proc/${this.booted.init}/root${file}`;
  }

  /** What the program printed. Throws CommandError unless it ends with 0. */
  run(command: string, ...args: string[]): Promise<string> {
    return this.runWith({}, command, ...args);
  }

  /** The environment is what is given here, and where programs are. */
  runWith(options: Omit<CommandOptions, 'cwd'>, command: string, ...args: string[]): Promise<string> {
    return run('nsenter', [...this.entering(), command, ...args], { ...options, env: { PATH: path, ...options.env } });
  }

  /** A request to the service's API over its socket; the answer's body. */
  async api<T>(method: string, url: string, body?: unknown): Promise<T> {
    const sent = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const always = ['-sS', '--max-time', '30', '--unix-socket', '/run/task-eni/api.sock', '-X', method];
    return JSON.parse(await this.run('curl', ...always, ...sent, `http://localhost${url}`)) as T;
  }

  /** Ends it with everything that runs in it: it is process 1 of a pid namespace. */
  async halt(): Promise<void> {
    this.booted.process.kill('SIGKILL');
    const deadline = Date.now() + 10_000;
    while (Date.now() < deadline && (existsSync(`/proc/${this.booted.init}`) || (await this.isPopulated())))
      await sleep(20);
    for (const cgroup of this.booted.cgroups) await removeCgroup(cgroup);
  }

  /** What nsenter takes to run a program in it; control groups are not entered. */
  protected entering(): string[] {
    return ['-t', `${this.booted.init}`, '-m', '-n', '-C', '-u', '-i', '-p', '-r', '-w'];
  }

  private async isPopulated(): Promise<boolean> {
    const lists = await Promise.all(this.booted.cgroups.map((each) => readFile(`${each}/cgroup.procs`, 'utf8')));
    return lists.some((list) => list !== '');
  }
}

async function bootedInit(child: ChildProcess, probe: readonly string[], log: string): Promise<number> {
  const deadline = Date.now() + 20_000;
  while (child.exitCode === null && Date.now() < deadline) {
    const [init] = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).split(' ');
    if (init && (await succeeds('nsenter', ['-t', init, '-m', '-p', '-r', ...probe]))) return Number(init);
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`the machine does not start:\n${(await readFile(log, 'utf8')).slice(-2000)}`);
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}

/** Those of labs whose creators died. Their processes ended when the lab was swept. */
async function removeDeadCgroups(hierarchies: readonly string[]): Promise<void> {
  for (const hierarchy of hierarchies)
    for (const name of (await readdir(hierarchy)).filter((each) => each.startsWith(prefix))) {
      const id = labIdIn(name.slice(prefix.length));
      if (id !== undefined && !(await creatorLives(id))) await removeCgroup(`${hierarchy}/${name}`);
    }
}

/** Another process that sweeps may be quicker. */
async function removeCgroup(folder: string): Promise<void> {
  if (existsSync(folder)) await run('find', [folder, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+']);
}
