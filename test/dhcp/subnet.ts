/** Tasks with an ENI on the lab's subnet, as they are once READY, and a DHCP server that offers far more than was asked for. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { type Ipv4, type Ipv6, parseIpv4Cidr, parseIpv6Cidr } from '../../src/addresses/cidr.js';
import { taskHash } from '../../src/attachments/names.js';
import { parseTaskId } from '../../src/attachments/task-id.js';
import { type Dhclient, findDhclient } from '../../src/dhcp/dhclient.js';
import type { ClientState } from '../../src/dhcp/lease.js';
import { DhcpClients, type DhcpTask } from '../../src/dhcp/dhcp-clients.js';
import { type Namespace, openNamespace } from '../../src/kernel/namespaces.js';
import { processesRunning } from '../../src/kernel/processes.js';
import { Dnsmasq } from '../lab/dnsmasq.js';
import type { HostNamespace } from '../lab/host-namespace.js';
import { Lab } from '../lab/lab.js';

export interface Task extends DhcpTask {
  readonly home: HostNamespace;
  readonly ipv4: Ipv4;
  readonly ipv6: Ipv6 | null;
  readonly mac: string;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly taskId?: string;
  readonly family?: number;
}

/** What would spoil task or host if anything took it over; sent whether asked for or not. */
const offers = [
  '6,192.0.2.53',
  '15,evil.example',
  '12,evil',
  '3,172.31.0.1,172.31.0.254',
  '26,1400',
  'option6:23,[2001:db8::53]',
];

export class Subnet {
  readonly log: LogLine[] = [];
  readonly server: Dnsmasq;
  readonly instance: string;
  mismatches = 0;

  private constructor(readonly lab: Lab) {
    this.server = new Dnsmasq(lab.vpc, 'offers', lab.directory);
    this.instance = lab.id;
  }

  static async create(): Promise<Subnet> {
    return new Subnet(await Lab.create({ name: 'dhcp' }));
  }

  /** Serves each task its address, or the given ones instead. */
  serve(tasks: readonly Task[], strange: ReadonlyMap<Task, string> = new Map()): Promise<void> {
    const hosts = tasks.map((task) => {
      const ipv6 = task.ipv6 === null ? '' : `,[${task.ipv6}]`;
      return `--dhcp-host=${task.mac},${strange.get(task) ?? task.ipv4}${ipv6}`;
    });
    const ranges = ['--dhcp-range=172.31.0.0,static,255.255.240.0,120', '--dhcp-range=2001:db8:1::,static,64,120'];
    const forced = offers.map((offer) => `--dhcp-option-force=${offer}`);
    const plain = ['--dhcp-authoritative', '--no-ping', '--leasefile-ro', '--log-dhcp'];
    return this.server.start([...plain, ...ranges, ...forced, ...hosts]);
  }

  /** Messages of a type about an address, as the server saw them. */
  messages(type: string, address: string): string[] {
    return this.server.log().filter((line) => line.includes(`${type}(`) && line.includes(` ${address} `));
  }

  clients(programs: Dhclient | null = findDhclient('dhclient')): DhcpClients {
    const log = pino({ level: 'debug' }, { write: (line: string) => this.log.push(JSON.parse(line) as LogLine) });
    const onMismatch = () => this.mismatches++;
    return new DhcpClients({ programs, instance: this.instance, log, onMismatch });
  }

  async createTask(name: string, options: { ipv6?: null } = {}): Promise<Task> {
    const eni = await this.lab.createEni(options);
    const home = await this.lab.createNamespace();
    await this.lab.host.run('ip', 'link', 'set', eni.hostName, 'netns', home.name, 'name', 'eth0');
    const ipv4 = parseIpv4Cidr(eni.ipv4Address)?.address;
    const ipv6 = eni.ipv6Address === null ? null : parseIpv6Cidr(eni.ipv6Address)?.address;
    const taskId = parseTaskId(name);
    if (ipv4 === undefined || ipv6 === undefined || taskId === undefined) throw new Error('the lab gave no address');
    await home.ipBatch([
      'link set eth0 up',
      `address add ${eni.ipv4Address} dev eth0`,
      'route add default via 172.31.0.1 dev eth0',
      ...(eni.ipv6Address === null
        ? []
        : [`address add ${eni.ipv6Address} dev eth0 nodad`, 'route add default via fe80::1 dev eth0']),
    ]);
    const { path, cookie } = inNamespace(home, ({ path, cookie }) => ({ path, cookie }));
    const hash = taskHash(this.instance, taskId);
    return {
      hash,
      taskId,
      namespace: { path, cookie },
      interface: 'eth0',
      ipv4,
      ipv6,
      home,
      mac: eni.mac,
    };
  }

  destroy(): Promise<void> {
    return this.lab.destroy();
  }
}

/** All that a DHCP client could have changed in the task, and in the host's files. */
export async function configuration(task: Task): Promise<string> {
  const seen = ['link', 'addr', 'route', '-6 route', 'rule', '-6 rule'].map((what) =>
    task.home.run('sh', '-c', `ip ${what.includes('-6') ? what : `-d ${what}`} show`),
  );
  const files = ['/etc/resolv.conf', '/etc/hosts', '/etc/hostname', '/proc/sys/kernel/hostname'];
  return (await Promise.all([...seen, ...files.map((file) => readFile(file, 'utf8'))])).join('\n---\n');
}

/** Pids of the clients in the task's namespace. */
export function clientPids(task: Task): number[] {
  return inNamespace(task.home, (namespace) =>
    processesRunning(new Set(['dhclient']), namespace).map(({ pid }) => pid),
  );
}

function inNamespace<T>(home: HostNamespace, look: (namespace: Namespace) => T): T {
  const namespace = openNamespace(home.path);
  try {
    return look(namespace);
  } finally {
    namespace.close();
  }
}

/** How many clients are in the state. */
export function count(clients: DhcpClients, state: ClientState): number {
  return clients.states().filter((each) => each === state).length;
}

export async function until(what: string, seconds: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await sleep(50);
  }
}
