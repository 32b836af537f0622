import { readFileSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { taskHash } from '../../src/attachments/names.js';
import { type TaskId, parseTaskId } from '../../src/attachments/task-id.js';
import { dhclientCommand, findDhclient } from '../../src/dhcp/dhclient.js';
import type { Network } from '../lab/answers.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { until } from './subnet.js';

let lab: Lab;
let service: ServiceProcess;

beforeEach(async () => {
  lab = await Lab.create({ dhcp: { leaseSeconds: 120 } });
  service = await lab.startService();
});

afterEach(() => lab.destroy());

/** Command lines of the DHCP clients of a task, wherever they are. */
function clientsOf(task: string): string[] {
  const hash = hashOf(task);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(commandLine).filter((line) => /^\S*dhclient\0/.test(line) && line.includes(hash));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}

function hashOf(task: string): string {
  return taskHash(lab.id, parseTaskId(task) as TaskId);
}

const filesOf = (task: string) => readdirSync('/var/lib/dhcp').filter((name) => name.includes(hashOf(task)));

async function attach(task: string, body: Record<string, unknown> = {}): Promise<Network> {
  const eni = await lab.createEni();
  const answer = await service.post(task, { eni: { macAddress: eni.mac }, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as Network;
}

const metrics = async () => (await service.api<string>('GET', '/metrics')).body;

/** Of the only task. */
function becomesBound(): Promise<void> {
  return until('both families bound', 5, async () =>
    (await metrics()).includes('task_eni_dhcp_clients{state="bound"} 2'),
  );
}

it('answers before there is a lease, which is bound within five seconds', async () => {
  const network = await attach('web');
  expect(network.lease).toMatchObject({ client: 'dhclient' });
  await becomesBound();
  const { lease } = (await service.get('web')).body as Network;
  expect(lease).toMatchObject({ client: 'dhclient', state: 'bound' });
  expect(Math.abs(Date.parse(lease.expiresAt ?? '') - Date.now() - 120_000)).toBeLessThan(10_000);
});

it('runs no client for a task that wants none', async () => {
  const network = await attach('plain', { dhcp: false });
  expect(network.lease).toMatchObject({ client: null, state: 'off', expiresAt: null });
  expect(clientsOf('plain')).toEqual([]);
});

it('has no client left when it is killed, and exactly one a family when it is back', async () => {
  await attach('web');
  await becomesBound();
  await service.kill();
  await until('no client', 2, () => clientsOf('web').length === 0);
  service = await lab.startService();
  await becomesBound();
  await until('two clients', 5, () => clientsOf('web').length === 2);
  expect(await service.stop()).toBe(0);
  expect(clientsOf('web')).toEqual([]);
});

it('ends a client that outlived it, as where a security module drops the death signal', async () => {
  const network = await attach('web');
  await becomesBound();
  await service.kill();
  await until('no client', 2, () => clientsOf('web').length === 0);
  const programs = findDhclient('dhclient');
  if (programs === null) throw new Error('dhclient is not installed');
  const run = { hash: hashOf('web'), instance: lab.id, family: 4, interface: 'eth0' } as const;
  const [, , ...command] = dhclientCommand(programs, run).args;
  const left = lab.host.start('nsenter', [`--net=${network.sandbox.netns}`, '--', ...command], { stdio: 'ignore' });
  await until('the client left over', 5, () => clientsOf('web').length === 1);
  service = await lab.startService();
  await becomesBound();
  expect(left.signalCode).toBe('SIGTERM');
  expect(clientsOf('web')).toHaveLength(2);
});

it('leaves no client and no file after a detach', async () => {
  await attach('web');
  await becomesBound();
  expect((await service.del('web')).status).toBe(200);
  expect(clientsOf('web')).toEqual([]);
  expect(filesOf('web')).toEqual([]);
});

it('lets a sandbox go that was killed, with its namespace and its client', async () => {
  const home = await lab.createNamespace();
  const sandbox = home.start('sleep', ['1000']);
  // Ends with the namespace that its other end is in.
  await home.run('ip', 'link', 'add', 'inside', 'type', 'veth', 'peer', 'name', 'witness', 'netns', lab.vpc.name);
  await lab.host.run('ip', 'netns', 'delete', home.name);
  await attach('web', { sandbox: { pid: sandbox.pid } });
  await becomesBound();
  sandbox.kill('SIGKILL');
  await until('no client', 5, () => clientsOf('web').length === 0);
  const links = () => lab.vpc.run('ip', '-o', 'link', 'show', 'type', 'veth');
  await until('no namespace', 5, async () => !(await links()).includes('witness@'));
});

it('counts a lease of another address, and the task keeps its own', async () => {
  const eni = await lab.createEni();
  lab.dhcp.setAddress(eni.mac, '172.31.9.9');
  await lab.dhcp.stop();
  await lab.dhcp.start();
  const answer = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: true });
  expect(answer.status).toBe(201);
  await until('a mismatch', 5, async () => (await metrics()).includes('task_eni_dhcp_mismatches_total 1\n'));
  const network = (await service.get('web')).body as Network;
  expect(network.eni.ipv4Address).toBe(eni.ipv4Address);
  expect((await service.api<Network>('GET', '/tasks/web/network?verify=true')).body.drift).toEqual([]);
});
