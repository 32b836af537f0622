/** A host with an ENI (a veth whose other end is "the VPC") and a task's namespace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pino from 'pino';
import type { Mac } from '../../src/addresses/mac.js';
import { type Side, bringHome } from '../../src/eni/bring-home.js';
import { type EniPlan } from '../../src/eni/configure.js';
import { type EniIdentity, findEni } from '../../src/eni/eni-search.js';
import { moveIn } from '../../src/eni/move-in.js';
import type { Link } from '../../src/kernel/link-message.js';
import type { FormerLink } from '../../src/steps/step.js';
import { World } from './world.js';

export const silent = pino({ level: 'silent' });
export const eniMac = '02:00:00:00:00:01' as Mac;
export const alias = 'te:test:0123456789abcdef0123';

export const ipv4Plan: EniPlan = {
  interface: 'eth0',
  ipv4: { address: '172.31.13.14' as never, prefix: 20 },
  ipv4Gateway: '172.31.0.1' as never,
  ipv6: null,
  ipv6Gateway: null,
  mtu: 9001,
  blockInstanceMetadata: true,
};

export class EniWorld extends World {
  readonly hostName = this.add();
  readonly taskName = this.add();
  readonly host: Side = { namespace: this.open(this.hostName), session: this.session(this.hostName) };
  readonly task: Side = { namespace: this.open(this.taskName), session: this.session(this.taskName) };

  constructor() {
    super();
    this.addEni('eni0', eniMac);
  }

  addEni(name: string, mac: string): void {
    this.ip(
      this.hostName,
      'link',
      'add',
      name,
      'address',
      mac,
      'mtu',
      '9001',
      'type',
      'veth',
      'peer',
      'name',
      `${name}-vpc`,
    );
    this.ip(this.hostName, 'link', 'set', `${name}-vpc`, 'mtu', '9001', 'up');
    this.ip(this.hostName, 'link', 'set', name, 'up');
  }

  async eni(): Promise<Link> {
    const link = findEni(await this.host.session.links(), eniMac);
    if (link === undefined) throw new Error('the ENI is not on the host');
    return link;
  }

  async moveIn(): Promise<{ link: Link; identity: EniIdentity; former: FormerLink }> {
    const eni = await this.eni();
    const link = await moveIn({
      host: this.host.session,
      link: eni,
      task: this.task.session,
      taskNamespace: this.task.namespace,
      alias,
      temporaryName: 'te0123456789',
    });
    return { link, identity: identityOf(link), former: eni };
  }

  /** The ENI's properties as {@link addEni} gave them. */
  async eniBefore(): Promise<FormerLink> {
    const peer = await this.host.session.linkByName('eni0-vpc');
    return { name: 'eni0', mtu: 9001, txQueueLength: peer?.txQueueLength ?? 1000, flags: 0 };
  }

  /** A router on the ENI's other end that advertises the prefix; gives what stops it. */
  async advertise(link: string, prefix: string): Promise<() => boolean> {
    const [network = '', length] = prefix.split('/');
    this.ip(this.hostName, 'address', 'add', `${network}1/${length}`, 'dev', link, 'nodad');
    const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--pid-file=', '--port=0', '--user=root'];
    const router = [`--interface=${link}`, '--enable-ra', `--ra-param=${link},4,60`, `--dhcp-range=${network},ra-only`];
    const child = spawn('ip', ['netns', 'exec', this.hostName, 'dnsmasq', ...fixed, ...router], { stdio: 'ignore' });
    await once(child, 'spawn');
    return () => child.kill();
  }

  bringHome(identity: EniIdentity, former: FormerLink, task: Side | undefined = this.task): Promise<Link | undefined> {
    return bringHome({ task, host: this.host, identity, former, wasMoved: true });
  }
}

export function identityOf(link: Link): EniIdentity {
  return {
    alias,
    mac: eniMac,
    index: link.index,
    kind: link.kind ?? null,
    peerIndex: link.peerIndex ?? null,
    permanentMac: link.permanentMac ?? null,
  };
}
