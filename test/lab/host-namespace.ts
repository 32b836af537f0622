import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { type CommandOptions, run } from './command.js';

/** Names the lab in the environment of everything it starts, so that nothing of a crashed one is missed. */
export const labVariable = 'TASK_ENI_LAB';

/** A network namespace under /run/netns, entered with nsenter: `ip netns exec` would make a mount namespace as well. */
export class HostNamespace {
  readonly name: string;
  readonly path: string;
  private readonly labId: string;
  private readonly children = new Set<ChildProcess>();

  constructor(name: string, labId: string) {
    this.name = name;
    this.path = `/run/netns/${name}`;
    this.labId = labId;
  }

  /** Runs a program in the namespace to its end and gives what it wrote. Throws CommandError unless it ends with 0. */
  run(command: string, ...args: string[]): Promise<string> {
    return this.runWith({}, command, ...args);
  }

  runWith(options: CommandOptions, command: string, ...args: string[]): Promise<string> {
    const env = { ...inherited(), ...options.env, [labVariable]: this.labId };
    return run('nsenter', [`--net=${this.path}`, '--', command, ...args], { ...options, env });
  }

  /** The answer of `ip -j ...`, parsed. */
  async ip<T = IpObject[]>(...args: string[]): Promise<T> {
    const text = await this.run('ip', '-j', '-d', ...args);
    return JSON.parse(text.trim() === '' ? '[]' : text) as T;
  }

  /** One `ip` process for many lines of its batch format. */
  ipBatch(lines: readonly string[]): Promise<string> {
    return this.runWith({ input: lines.join('\n') + '\n' }, 'ip', '-batch', '-');
  }

  /** Starts a program in the namespace; its pid is the program's own, since nsenter only executes it. */
  start(command: string, args: readonly string[] = [], options: SpawnOptions = {}): ChildProcess {
    const env = { ...(options.env ?? inherited()), [labVariable]: this.labId };
    const child = spawn('nsenter', [`--net=${this.path}`, '--', command, ...args], { ...options, env });
    this.children.add(child);
    child.once('exit', () => this.children.delete(child));
    return child;
  }

  /** Kills what was started here and still runs. */
  killChildren(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }
}

/** A link, address, route or rule as `ip -j` prints it. */
export interface IpObject {
  readonly [key: string]: unknown;
  readonly ifname?: string;
  readonly ifindex?: number;
  readonly address?: string;
  readonly link_index?: number;
  readonly link_netnsid?: number;
}

/** The environment that programs in a lab get: nothing of the caller's but where programs and his home are. */
export function inherited(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'NODE_V8_COVERAGE'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
