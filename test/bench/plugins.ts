import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Eni } from '../lab/eni.js';
import type { Lab } from '../lab/lab.js';
import { vpc } from '../lab/vpc.js';
import type { Contestant, Timing } from './contestant.js';
import { Shell } from './shell.js';

/** Where Debian's containernetworking-plugins has them. */
const folder = '/usr/lib/cni';

/** The job as it is done today: host-device moves the ENI, bridge makes the link-local side, host-local gives addresses. */
export class Plugins implements Contestant {
  readonly name = 'CNI plugins: host-device, bridge, host-local';
  private readonly shell: Shell;
  private readonly task: string;

  private constructor(
    readonly eni: Eni,
    private readonly lab: Lab,
  ) {
    this.shell = new Shell(lab.host);
    this.task = `${lab.id}-plugins`;
  }

  /** Undefined when they are not installed. */
  static async make(lab: Lab, eni: Eni): Promise<Plugins | undefined> {
    if (!existsSync(`${folder}/host-device`)) return undefined;
    const plugins = new Plugins(eni, lab);
    const address = eni.ipv4Address.split('/')[0];
    const ipam = (ranges: unknown[], routes: unknown[]) => ({
      type: 'host-local',
      dataDir: `${lab.directory}/cni`,
      ranges: [ranges],
      routes,
    });
    const range = { subnet: vpc.subnet, rangeStart: address, rangeEnd: address, gateway: vpc.gateway };
    await plugins.configure('host-device', {
      device: eni.hostName,
      ipam: ipam([range], [{ dst: '0.0.0.0/0' }]),
    });
    await plugins.configure('bridge', {
      bridge: 'ecs-bench',
      isGateway: true,
      mtu: 1500,
      ipam: ipam([{ subnet: '169.254.172.0/22' }], [{ dst: '169.254.170.2/32' }]),
    });
    return plugins;
  }

  private configure(type: string, settings: Record<string, unknown>): Promise<void> {
    const file = `${this.lab.directory}/cni-${type}.json`;
    return writeFile(file, JSON.stringify({ cniVersion: '0.4.0', name: `bench-${type}`, type, ...settings }));
  }

  private call(command: 'ADD' | 'DEL', type: string, link: string): string {
    const environment = `CNI_COMMAND=${command} CNI_CONTAINERID=bench CNI_IFNAME=${link} CNI_PATH=${folder}`;
    const namespace = `CNI_NETNS=/run/netns/${this.task}`;
    return `${environment} ${namespace} ${folder}/${type} <${this.lab.directory}/cni-${type}.json >&2`;
  }

  async attach(): Promise<Timing> {
    const script = [
      `ip netns add ${this.task}`,
      this.call('ADD', 'bridge', 'ecs-eth0'),
      this.call('ADD', 'host-device', 'eth0'),
    ];
    return { total: await this.shell.run(script.join('\n')), steps: {} };
  }

  async detach(): Promise<Timing> {
    const script = [
      this.call('DEL', 'host-device', 'eth0'),
      this.call('DEL', 'bridge', 'ecs-eth0'),
      `ip netns delete ${this.task}`,
    ];
    return { total: await this.shell.run(script.join('\n')), steps: {} };
  }
}
