/** A machine with systemd as process 1, to try for real what is installed on hosts: units, their sandboxing, their restarts. */
import { existsSync } from 'node:fs';
import { inCheckout } from '../lab/checkout.js';
import { InnerMachine } from '../lab/inner-machine.js';
import type { Lab } from '../lab/lab.js';

const hierarchy = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((path) => existsSync(`${path}/cgroup.procs`));

/** Why there can be no machine here; undefined when there can. */
export function missingForMachine(): string | undefined {
  if (!existsSync('/lib/systemd/systemd')) return 'systemd is not installed';
  if (hierarchy === undefined) return 'there is no cgroup2 hierarchy';
  return undefined;
}

export interface System {
  /** A folder with the whole of a distribution; this machine's root unless given. */
  readonly root?: string;
  /** A folder whose files are added to the root. */
  readonly top?: string;
  /** The folder of the units that the distribution ships, when they are to be there. */
  readonly units?: string;
}

export class Machine extends InnerMachine {
  /**
   * Its root is this machine's, or as `system` says; what it writes there is forgotten. At `/mnt/<name>` it has the folders of
   * `mounts`. `/etc/systemd/system` is empty.
   */
  static async start(lab: Lab, mounts: Readonly<Record<string, string>>, system: System = {}): Promise<Machine> {
    const booted = await InnerMachine.boot(lab, {
      name: 'machine',
      script: inCheckout('test/packaging/boot.sh'),
      args: Object.entries(mounts).map(([name, path]) => `${name}=${path}`),
      env: { ROOT: system.root ?? '/', TOP: system.top ?? '', UNITS: system.units ?? '' },
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
