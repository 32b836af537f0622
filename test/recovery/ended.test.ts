import { readFile, readdir, writeFile } from 'node:fs/promises';
import { readlinkSync, readdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { childrenOf } from '../attach/footprint.js';
import { Inside } from '../attach/inside.js';
import type { Host, Network } from '../lab/answers.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;
let eni: Eni;

beforeEach(async () => {
  lab = await Lab.create({ name: 'ended', ipv6: false });
  eni = await lab.createEni();
  service = await lab.startService();
});
afterEach(async () => {
  await service?.kill();
  await lab?.destroy();
});

const recordFiles = async () => {
  const folder = `${lab.directory}/state/tasks`;
  return (await readdir(folder)).map((name) => `${folder}/${name}`);
};

async function attach(rest: object = {}): Promise<Network> {
  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false, ...rest });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Ten seconds are the contract's; a read of the state on a busy machine is given two more. */
async function expectLost(): Promise<void> {
  await expect.poll(async () => (await service.get('web')).body.state, { timeout: 12_000 }).toBe('LOST');
  expect((await service.api<Host>('GET', '/host')).body.linkLocal.allocated).toBe(0);
  const bridge = await new Inside(`/run/netns/${lab.id}`).links();
  expect(bridge.filter(({ ifname }) => ifname.startsWith('ve'))).toEqual([]);
}

it.each(['while the service runs', 'while it is down'])(
  'a task whose process ended %s is LOST, and its id can be used anew',
  async (when) => {
    const holder = spawn('unshare', ['--net', 'sleep', '600']);
    await expect.poll(() => readlinkSync(`/proc/${holder.pid}/ns/net`)).not.toBe(readlinkSync('/proc/self/ns/net'));
    await attach({ sandbox: { pid: holder.pid } });
    if (when === 'while it is down') await service.kill();
    holder.kill('SIGKILL');
    if (when === 'while it is down') service = await lab.startService();
    await expectLost();
    // A pretend ENI dies with its namespace; a real one would be home.
    eni = await lab.createEni();
    await attach();
  },
);

it('a task whose pinned namespace was deleted by hand is LOST', async () => {
  const { sandbox } = await attach();
  await lab.host.run('ip', 'netns', 'delete', sandbox.netns.replace('/run/netns/', ''));
  await expectLost();
});

it('a restart leaves a READY task byte for byte as it is', async () => {
  const { sandbox, linkLocal } = await attach();
  const task = new Inside(sandbox.netns);
  const look = async () => [await task.run('ip', '-j', 'link'), ...(await task.routes()), ...(await task.addresses())];
  const before = await look();
  expect(await service.stop()).toBe(0);
  service = await lab.startService();
  expect(await look()).toEqual(before);
  expect((await service.get('web')).body).toMatchObject({ state: 'READY', linkLocal });
});

it('a stop ends an attach that waits with 503 shutting-down, and the service with 0', async () => {
  await eni.detach();
  const posted = service.post('web', { eni: { macAddress: eni.mac } });
  await expect.poll(async () => (await service.get('web')).body.state).toBe('PENDING');
  expect(await service.stop()).toBe(0);
  expect(await posted).toMatchObject({ status: 503, body: { code: 'shutting-down' } });
});

it('a record of before a reboot is released', async () => {
  await attach();
  await service.kill();
  for (const file of await recordFiles()) {
    const record = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...record, bootId: '00000000-0000-4000-8000-000000000000' }));
  }
  service = await lab.startService();
  await expectLost();
});

it('a record of another instance is set aside, and its task is left alone', async () => {
  const { sandbox } = await attach();
  await service.kill();
  for (const file of await recordFiles()) {
    const record = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...record, instanceId: 'i-0fedcba9876543210' }));
  }
  service = await lab.startService({ waitReady: false });
  await expect
    .poll(async () => (await service.get('web').catch(() => ({ status: 0 }))).status, { timeout: 15_000 })
    .toBe(404);
  expect(await new Inside(sandbox.netns).addresses()).toContain(`eth0 ${eni.ipv4Address}`);
});

it('a second service with the same state folder does not start, and says why', async () => {
  const second = lab.startService({
    env: { TASK_ENI_API_ADDRESS: '', TASK_ENI_API_SOCKET: `${lab.directory}/2.sock` },
  });
  await expect(second).rejects.toThrow(/it ended[\s\S]*lock/i);
});

it('no child of the service has a descriptor of its state, of a namespace or of a netlink socket', async () => {
  await attach({ dhcp: true });
  const children = childrenOf(service.pid);
  expect(children.length).toBeGreaterThan(0);
  const seenBy = [String(service.pid), ...children];
  const netlink = (await Promise.all(seenBy.map((pid) => readFile(`/proc/${pid}/net/netlink`, 'utf8')))).join('\n');
  for (const child of children)
    for (const descriptor of readdirSync(`/proc/${child}/fd`)) {
      const target = readlinkSync(`/proc/${child}/fd/${descriptor}`);
      expect(target).not.toMatch(/^net:|^mnt:|\/state(\/|$)|\/run\/netns/);
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined) expect(netlink).not.toContain(` ${inode} `);
    }
});
