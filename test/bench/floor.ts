import type { Eni } from '../lab/eni.js';
import type { Lab } from '../lab/lab.js';
import { vpc } from '../lab/vpc.js';
import type { Contestant, Timing } from './contestant.js';
import { Shell } from './shell.js';

const address = '169.254.172.2';
const mac = '0a:58:a9:fe:ac:02';
const server = '169.254.170.2';

const batch = (command: string, lines: readonly string[]) => `${command} <<'LINES'\n${lines.join('\n')}\nLINES`;

/** The same work of the kernel by iproute2 in one batch for each namespace: what no service can do without. */
export class Floor implements Contestant {
  readonly name = 'floor: ip and bridge in batches';
  private readonly shell: Shell;
  private readonly task: string;
  private readonly bridge: string;

  private constructor(
    readonly eni: Eni,
    lab: Lab,
  ) {
    this.shell = new Shell(lab.host);
    this.task = `${lab.id}-floor`;
    this.bridge = `${lab.id}-floorbridge`;
  }

  static async make(lab: Lab, eni: Eni): Promise<Floor> {
    const floor = new Floor(eni, lab);
    await floor.shell.run(
      [
        `ip netns add ${floor.bridge}`,
        batch(`ip -n ${floor.bridge} -batch -`, [
          'link add ecs-eni address 0a:57:a9:fe:ac:01 type bridge forward_delay 0',
          'link set ecs-eni up',
          'address add 169.254.172.1/22 dev ecs-eni',
          `address add ${server}/32 dev ecs-eni`,
        ]),
      ].join('\n'),
    );
    return floor;
  }

  async attach(): Promise<Timing> {
    const { eni, task, bridge } = this;
    const flags = 'isolated on learning off flood off mcast_flood off';
    const script = [
      `ip netns add ${task}`,
      batch(`ip -n ${bridge} -batch -`, [
        `link add vefloor mtu 1500 master ecs-eni type veth peer name ecs-eth0 address ${mac} mtu 1500 netns ${task}`,
        `link set vefloor alias floor type bridge_slave ${flags}`,
        `neighbour replace ${address} lladdr ${mac} dev ecs-eni nud permanent`,
        'link set vefloor up',
      ]),
      `bridge -n ${bridge} fdb replace ${mac} dev vefloor master static`,
      batch('ip -batch -', [`link set ${eni.hostName} down`, `link set ${eni.hostName} netns ${task}`]),
      batch(`ip -n ${task} -batch -`, [
        'link set lo up',
        `address add ${address}/32 dev ecs-eth0 scope link`,
        'link set ecs-eth0 alias floor up',
        `route add ${server} dev ecs-eth0`,
        `neighbour replace ${server} lladdr 0a:57:a9:fe:ac:01 dev ecs-eth0 nud permanent`,
        `link set ${eni.hostName} name eth0`,
        `address add ${eni.ipv4Address} dev eth0`,
        'link set eth0 alias floor up',
        `route add default via ${vpc.gateway} dev eth0`,
        `route add blackhole ${vpc.metadata}`,
      ]),
    ];
    return { total: await this.shell.run(script.join('\n')), steps: {} };
  }

  async detach(): Promise<Timing> {
    const { eni, task, bridge } = this;
    const script = [
      batch(`ip -n ${task} -batch -`, ['link set eth0 down', `link set eth0 name ${eni.hostName}`]),
      // By the name that the lab gave the host's namespace.
      `ip -n ${task} link set ${eni.hostName} alias '' netns ${task.replace(/-floor$/, '-host')}`,
      batch(`ip -n ${bridge} -batch -`, [`neighbour delete ${address} dev ecs-eni`, 'link delete vefloor']),
      `ip netns delete ${task}`,
    ];
    return { total: await this.shell.run(script.join('\n')), steps: {} };
  }
}
