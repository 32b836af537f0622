/** A bridge's namespace and tasks on it, made by hand, each run's under names of its own. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseIpv4 } from '../../src/addresses/cidr.js';
import type { Ipv4 } from '../../src/addresses/cidr.js';
import { type Namespace, openNamespace } from '../../src/kernel/namespaces.js';
import { run } from '../lab/command.js';

export const serverAddress = '169.254.170.2' as Ipv4;
export const serverPort = 80;

const prefix = 'tecred';
const folders = '/dev/shm';
let counter = 0;

export interface TaskNamespace {
  readonly name: string;
  readonly address: Ipv4;
}

export class BridgeWorld {
  readonly tasks: TaskNamespace[] = [];
  /** On tmpfs; removed at the end. */
  readonly folder: string;
  private opened: Namespace | undefined;

  private constructor(private readonly name: string) {
    this.folder = join(folders, name);
    mkdirSync(this.folder, { mode: 0o700 });
  }

  static async make(): Promise<BridgeWorld> {
    await removeAbandoned();
    const world = new BridgeWorld(`${prefix}${process.pid}x${++counter}`);
    await world.makeBridge();
    return world;
  }

  get bridgeName(): string {
    return `${this.name}b`;
  }

  namespace(): Namespace {
    this.opened ??= openNamespace(`/run/netns/${this.bridgeName}`);
    return this.opened;
  }

  async makeBridge(): Promise<void> {
    this.opened?.close();
    this.opened = undefined;
    const name = this.bridgeName;
    await run('ip', ['netns', 'add', name]);
    await run('ip', ['-n', name, '-batch', '-'], {
      input: [
        'link set lo up',
        'link add ecs-eni type bridge forward_delay 0 mcast_snooping 0',
        'link set ecs-eni addrgenmode none up',
        'address add 169.254.172.1/22 dev ecs-eni',
        `address add ${serverAddress}/32 dev ecs-eni`,
      ].join('\n'),
    });
  }

  /** A namespace with an address on the bridge and the way to the server. */
  async addTask(): Promise<TaskNamespace> {
    const number = this.tasks.length + 2;
    const name = `${this.name}t${number}`;
    const address = parseIpv4(`169.254.172.${number}`) as Ipv4;
    await run('ip', ['netns', 'add', name]);
    await run('ip', ['-n', this.bridgeName, '-batch', '-'], {
      input: [
        `link add ve${number} type veth peer name ecs-eth0 netns ${name}`,
        `link set ve${number} addrgenmode none master ecs-eni up`,
      ].join('\n'),
    });
    await run('ip', ['-n', name, '-batch', '-'], {
      input: [
        'link set lo up',
        'link set ecs-eth0 up',
        `address add ${address}/32 dev ecs-eth0`,
        `route add ${serverAddress}/32 dev ecs-eth0 src ${address}`,
      ].join('\n'),
    });
    const task = { name, address };
    this.tasks.push(task);
    return task;
  }

  async remove(): Promise<void> {
    this.opened?.close();
    await removeFolder(this.folder);
    for (const name of [...this.tasks.map((task) => task.name), this.bridgeName])
      if (existsSync(`/run/netns/${name}`)) await run('ip', ['netns', 'delete', name]);
  }
}

/** Runs a program in a task's namespace. */
export function runIn(
  task: TaskNamespace,
  command: string,
  args: readonly string[],
  timeout = 60_000,
): Promise<string> {
  return run('nsenter', [`--net=/run/netns/${task.name}`, '--', command, ...args], { timeout });
}

/** What a run that did not end well has left: its process is gone. */
async function removeAbandoned(): Promise<void> {
  const isAbandoned = (name: string) => {
    const pid = new RegExp(`^${prefix}(\\d+)x`).exec(name)?.[1];
    return pid !== undefined && !existsSync(join('/proc', pid));
  };
  const namespaces = existsSync('/run/netns') ? readdirSync('/run/netns').filter(isAbandoned) : [];
  for (const name of namespaces) await run('ip', ['netns', 'delete', name]);
  for (const name of readdirSync(folders).filter(isAbandoned)) await removeFolder(join(folders, name));
}

/** With the file systems that a test mounted in it. */
async function removeFolder(folder: string): Promise<void> {
  const mounts = (await run('findmnt', ['-rno', 'TARGET'])).split('\n').filter((path) => path.startsWith(`${folder}/`));
  for (const path of mounts) await run('umount', ['-l', path]);
  rmSync(folder, { recursive: true, force: true });
}
