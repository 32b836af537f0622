/** A Kubernetes of one node, control plane and all, in the network of a lab's host. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { inCheckout } from '../../lab/checkout.js';
import { CommandError } from '../../lab/command.js';
import { type Booted, InnerMachine } from '../../lab/inner-machine.js';
import type { Lab } from '../../lab/lab.js';
import { vpc } from '../../lab/vpc.js';
import { docker, foundation, kubeconfig, kubelet, rest, writeFiles } from './programs.js';

/** What enters a machine is not in its control groups, in which the kubelet and containerd must be, as what they start is. */
const join = 'for group in /sys/fs/cgroup/*/; do echo 0 >"$group/cgroup.procs"; done; exec "$@"';

export class Cluster extends InnerMachine {
  private readonly launched = new Map<string, ChildProcess>();

  private constructor(
    booted: Booted,
    private readonly lab: Lab,
    private readonly folder: string,
  ) {
    super(booted);
  }

  /** Resolves when the API answers and its node is ready. The pause image must be imported before the first pod comes. */
  static async start(lab: Lab, options: { pauseImage: string; helm: string }): Promise<Cluster> {
    const booted = await InnerMachine.boot(lab, {
      name: 'node',
      script: inCheckout('test/helm/cluster/node.sh'),
      hierarchies: await hierarchies(),
      probe: ['test', '-e', '/run/lab/booted'],
    });
    const cluster = new Cluster(booted, lab, `${lab.directory}/cluster`);
    try {
      await mkdir(cluster.folder);
      await writeFiles(cluster.folder, options.pauseImage, options.helm);
      for (const [name, command] of Object.entries(foundation(cluster.folder))) cluster.launch(name, command);
      await cluster.until('apiserver', () => cluster.kubectl('get', '--raw', '/readyz'));
      for (const [name, command] of Object.entries(rest(cluster.folder))) cluster.launch(name, command);
      cluster.launch('kubelet', kubelet(cluster.folder, vpc.primary));
      await cluster.until('kubelet', () =>
        cluster.kubectl('wait', '--for=condition=Ready', 'node/node', '--timeout=5s'),
      );
    } catch (error) {
      await cluster.halt();
      throw error;
    }
    return cluster;
  }

  kubectl(...args: string[]): Promise<string> {
    return this.shell('exec kubectl "$@"', ...args);
  }

  helm(...args: string[]): Promise<string> {
    return this.shell('exec helm "$@"', ...args);
  }

  /** Lines of a shell in the checkout, whose kubectl and helm talk to this cluster as its administrator. */
  shell(lines: string, ...args: string[]): Promise<string> {
    const env = {
      PATH: `${this.folder}/bin:${process.env['PATH'] ?? ''}`,
      HOME: this.folder,
      KUBECONFIG: kubeconfig(this.folder, 'admin'),
    };
    return this.lab.host.runWith(
      { env, cwd: inCheckout('.'), timeout: 180_000 },
      'sh',
      '-e',
      '-c',
      lines,
      'sh',
      ...args,
    );
  }

  /** Gives the node an image of an archive of `docker save` under further names. */
  async importImage(archive: string, image: string, ...names: string[]): Promise<void> {
    const images = (...args: string[]) => this.run('ctr', '--namespace', 'k8s.io', 'images', ...args);
    await images('import', archive);
    for (const name of names) await images('tag', `docker.io/${image}`, name);
  }

  /** Gives the node a Docker engine, and that an image of an archive under another name. */
  async startDocker(archive: string, image: string, name: string): Promise<void> {
    const client = (...args: string[]) => this.run('docker', '--host=unix:///run/docker.sock', ...args);
    this.launch('docker', docker);
    await this.until('docker', () => client('version'));
    await client('load', '--input', archive);
    await client('tag', image, name);
  }

  /** Starts the kubelet anew, with another address of the node's. */
  async moveNode(address: string): Promise<void> {
    const parent = this.launched.get('kubelet');
    if (parent === undefined) throw new Error('no kubelet was started');
    const [pid] = (await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8')).split(' ');
    const ended = once(parent, 'exit');
    process.kill(Number(pid));
    await ended;
    this.launch('kubelet', kubelet(this.folder, address));
    const condition = `--for=jsonpath={.status.addresses[0].address}=${address}`;
    await this.until('kubelet', () => this.kubectl('wait', condition, 'node/node', '--timeout=5s'));
  }

  private launch(name: string, command: string[]): void {
    const log = openSync(this.logFile(name), 'a');
    const args = [...this.entering(), 'sh', '-c', join, 'sh', ...command];
    this.launched.set(name, this.lab.host.start('nsenter', args, { stdio: ['ignore', log, log] }));
    closeSync(log);
  }

  private logFile(name: string): string {
    return `${this.folder}/${name}.log`;
  }

  private async until(program: string, succeeds: () => Promise<string>): Promise<void> {
    const deadline = Date.now() + 180_000;
    for (;;) {
      try {
        await succeeds();
        return;
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        if (Date.now() < deadline) await sleep(500);
        else
          throw new Error(`${program} is not ready:\n${(await readFile(this.logFile(program), 'utf8')).slice(-2000)}`, {
            cause: error,
          });
      }
    }
  }
}

/** Those of version 1; a link among them is another name of one. */
async function hierarchies(): Promise<string[]> {
  const entries = await readdir('/sys/fs/cgroup', { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `/sys/fs/cgroup/${name}`);
  return folders.filter((folder) => existsSync(`${folder}/tasks`));
}
