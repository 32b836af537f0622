/** The host that the guides speak of: systemd, Docker and a clone of the project, on a pretend EC2 instance. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { type ImageName, importImage } from '../lab/docker-images.js';
import type { Lab } from '../lab/lab.js';
import { Machine, missingForMachine } from '../packaging/machine.js';

/** Where test/guides/install.sh puts what Debian has not. */
const tools = `${process.env['XDG_CACHE_HOME'] ?? `${homedir()}/.cache`}/task-eni-tests/bin`;

const udev = ['/lib/systemd/systemd-udevd', '/usr/lib/systemd/systemd-udevd'].find((path) => existsSync(path));

const networkd = ['/lib/systemd/systemd-networkd', '/usr/lib/systemd/systemd-networkd'].find((path) =>
  existsSync(path),
);

/** Whether hosts can have systemd-networkd, of which networkctl asks over D-Bus. */
export const hasNetworkd = networkd !== undefined && existsSync('/usr/bin/dbus-daemon');

/** Why the guides cannot be run here; undefined when they can. */
export function missingForGuides(): string | undefined {
  const compiler = ['/usr/bin/gcc', '/usr/local/bin/gcc'].some((path) => existsSync(path));
  return (
    missingForMachine() ?? (udev === undefined ? 'udev is not installed' : compiler ? undefined : 'there is no gcc')
  );
}

/** The same for compose. */
export function missingForCompose(): string | undefined {
  const { status } = spawnSync('docker', ['compose', 'version']);
  const found = status === 0 || existsSync(`${tools}/docker-compose`);
  return missingForGuides() ?? (found ? undefined : 'docker compose is missing: run test/guides/install.sh');
}

/** In the lab there is no way to a registry: npm takes what its cache has, as it would from there. */
const environment = { HOME: '/root', npm_config_cache: '/mnt/npm', npm_config_offline: 'true', DOCKER_BUILDKIT: '0' };

/** No link of the lab leads to other networks, so the engine is told to make none. */
const network = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'];

export class GuideHost {
  /** In the machine. */
  readonly clone = '/mnt/clone';

  private constructor(
    readonly machine: Machine,
    /** Outside of the machine, on disk: `clone` and `docker` are in it. */
    readonly folder: string,
  ) {}

  static async boot(lab: Lab, name: string): Promise<GuideHost> {
    const folder = inCheckout(`node_modules/.guides-${name}`);
    await rm(folder, { recursive: true, force: true });
    for (const path of [`${folder}/clone`, `${folder}/docker`, tools]) await mkdir(path, { recursive: true });
    await copyCheckout(`${folder}/clone`);
    const npm = (await run('npm', ['config', 'get', 'cache'])).trim();
    const mounts = { clone: `${folder}/clone`, docker: `${folder}/docker`, checkout: inCheckout('.'), npm, tools };
    const host = new GuideHost(await Machine.start(lab, mounts), folder);
    await host.startUdev();
    await host.startDocker();
    return host;
  }

  /** What lines of a guide print. Throws CommandError unless they end with 0; an error in one ends them. */
  sh(lines: string, cwd = this.clone): Promise<string> {
    const options = { env: environment, timeout: 300_000 };
    return this.machine.runWith(options, 'env', '-C', cwd, 'sh', '-e', '-c', lines);
  }

  /** Docker's command on the machine's engine, from outside of it. */
  dockerEnvironment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', DOCKER_HOST: `unix://${this.machine.outside('/run/docker.sock')}` };
  }

  /** Makes one of the lab's images on the machine's engine, under the name that the guide has for it. */
  async makeImage(image: ImageName, name: string, ...changes: string[]): Promise<void> {
    const environment = this.dockerEnvironment();
    const docker = async (...args: string[]) => (await run('docker', args, { env: environment })).trim();
    const container = await docker('create', await importImage(image, { environment, docker }));
    await docker('commit', ...changes.flatMap((change) => ['--change', change]), container, name);
    await docker('rm', container);
  }

  /** With no rules but those that a guide installs: what else the machine's own do is not the lab's to do. */
  private async startUdev(): Promise<void> {
    await this.machine.run('rm', '-rf', '/lib/udev/rules.d', '/usr/lib/udev/rules.d');
    await this.machine.run('systemd-run', '--unit=systemd-udevd', '--property=Type=notify', udev ?? '');
  }

  /** It takes every `en*` for the host's, as Debian's netplan has it. */
  async startNetworkd(): Promise<void> {
    const all = '/etc/systemd/network/10-netplan-all-en.network';
    await this.machine.runWith({ input: '[Match]\nName=en*\n[Network]\nDHCP=yes\n' }, 'tee', all);
    await this.sh('mkdir -p /run/dbus && install -d -o systemd-network /run/systemd/netif', '/');
    await this.machine.run('systemd-run', '--unit=dbus', 'dbus-daemon', '--system', '--nofork', '--nopidfile');
    await this.machine.run('systemd-run', '--unit=systemd-networkd', '--property=Type=notify', networkd ?? '');
  }

  private async startDocker(): Promise<void> {
    const plugins = '/usr/local/lib/docker/cli-plugins';
    await this.sh(`mkdir -p ${plugins}; [ ! -e /mnt/tools/docker-compose ] || cp /mnt/tools/docker-compose ${plugins}`);
    const daemon = ['dockerd', '--data-root=/mnt/docker', '--exec-opt=native.cgroupdriver=cgroupfs', ...network];
    await this.machine.run('systemd-run', '--unit=docker', '--property=Delegate=yes', ...daemon);
    await this.sh(
      'timeout 30 sh -c "until docker version >/dev/null 2>&1; do sleep 0.05; done" || docker version',
      '/',
    );
  }

  async halt(): Promise<void> {
    await this.machine.halt();
    await rm(this.folder, { recursive: true, maxRetries: 3 });
  }
}

/** What git has of it, as it stands: what is not committed yet is in it, what was built is not. */
async function copyCheckout(folder: string): Promise<void> {
  const list = [
    '-c',
    "'safe.directory=*'",
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
  ];
  const script = `git ${list.join(' ')} | tar -c --null --files-from=- | tar -x -C "$0"`;
  await run('sh', ['-c', script, folder], { cwd: inCheckout('.') });
}
