/** A machine with systemd as process 1, to try for real what is installed on hosts: units, their sandboxing, their restarts. */
import { existsSync } from 'node:fs';
import { inCheckout } from '../lab/checkout.js';
import { InnerMachine } from '../lab/inner-machine.js';
import type { Lab } from '../lab/lab.js';

const program = ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].find((path) => existsSync(path));
const hierarchy = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((path) => existsSync(`${path}/cgroup.procs`));

/** Why there can be no machine here; undefined when there can. */
export function missingForMachine(): string | undefined {
  if (program === undefined) return 'systemd is not installed';
  if (hierarchy === undefined) return 'there is no cgroup2 hierarchy';
  return undefined;
}

export class Machine extends InnerMachine {
  /**
   * Its root is this machine's, and what it writes there is forgotten; at `/mnt/<name>` it has the folders of `mounts`.
   * `/etc/systemd/system` is empty.
   */
  static async start(lab: Lab, mounts: Readonly<Record<string, string>>): Promise<Machine> {
    const booted = await InnerMachine.boot(lab, {
      name: 'machine',
      script: inCheckout('test/packaging/boot.sh'),
      args: Object.entries(mounts).map(([name, path]) => `${name}=${path}`),
      env: { SYSTEMD: program ?? '' },
      hierarchies: hierarchy === undefined ? [] : [hierarchy],
      probe: ['systemctl', 'is-active', '--quiet', 'lab.target'],
    });
    return new Machine(booted);
  }

  systemctl(...args: string[]): Promise<string> {
    return this.run('systemctl', '--no-pager', ...args);
  }

  /** One property of a unit (systemctl-show(1)). */
  async property(unit: string, name: string): Promise<string> {
    return (await this.systemctl('show', '--property', name, '--value', unit)).trim();
  }
}
