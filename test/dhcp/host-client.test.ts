import type { ChildProcess } from 'node:child_process';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopHostClient } from '../../src/dhcp/host-client.js';
import { type Namespace, openNamespace } from '../../src/kernel/namespaces.js';
import type { HostNamespace } from '../lab/host-namespace.js';
import { Lab } from '../lab/lab.js';
import { until } from './subnet.js';

let lab: Lab;
let host: Namespace;
let elsewhere: HostNamespace;
const log = pino({ level: 'silent' });

beforeAll(async () => {
  lab = await Lab.create({ dhcp: true });
  await lab.createEni();
  await lab.createEni();
  host = openNamespace(lab.host.path);
  elsewhere = await lab.createNamespace();
  await elsewhere.ipBatch(['link add eth1 type veth peer name other0', 'link set eth1 up']);
});

afterAll(async () => {
  host.close();
  await lab.destroy();
});

let started = 0;

/** A client as the host would run it, but without a script that could touch the machine. */
async function startClient(where: HostNamespace, ...links: string[]): Promise<ChildProcess> {
  const lease = `${lab.directory}/host-client-${++started}.leases`;
  const options = ['-d', '--no-pid', '-cf', '/dev/null', '-lf', lease, '-sf', '/bin/true'];
  for (const link of links) await where.run('ip', 'link', 'set', link, 'up');
  const client = where.start('dhclient', [...options, ...links], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  client.stderr?.on('data', (text: Buffer) => (said += text.toString()));
  await until('it listens', 15, () => said.includes('Listening on'));
  return client;
}

const lives = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

it("stops the host's client on the ENI, and no other", async () => {
  const wanted = await startClient(lab.host, 'eth1');
  const others = [
    await startClient(lab.host, 'eth2'),
    await startClient(lab.host, 'eth1', 'eth2'),
    await startClient(elsewhere, 'eth1'),
    lab.host.start('sleep', ['1000'], { argv0: 'dhclient eth1' }),
    lab.host.start('sh', ['-c', 'sleep 1000; : dhclient eth1']),
  ];
  expect(await stopHostClient({ interface: 'eth1', namespace: host, log })).toBe(true);
  // It has ended; that its parent hears of it may take another moment.
  await expect.poll(() => lives(wanted)).toBe(false);
  expect(others.map(lives)).toEqual(others.map(() => true));
});

it('says so when there is none', async () => {
  expect(await stopHostClient({ interface: 'eth9', namespace: host, log })).toBe(false);
});
