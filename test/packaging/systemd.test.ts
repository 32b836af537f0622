import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import { installByScript, packTarball } from './installed-package.js';
import { Machine, missingForMachine } from './machine.js';
import { Pings } from './pings.js';

const missing = missingForMachine();
const gateway = '172.31.0.1';
const install = ['/mnt/checkout/deploy/install.sh', 'install', '--from', '/mnt/package/opt/task-eni'] as const;
const credentials = {
  source: 'pushed',
  roleArn: 'arn:aws:iam::123456789012:role/app',
  accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'secret-of-the-task',
  sessionToken: 'token',
  expiration: '2099-01-01T00:00:00Z',
};

describe.skipIf(missing !== undefined)(`the unit, on a machine with systemd${missing ? ` (${missing})` : ''}`, () => {
  let lab: Lab;
  let machine: Machine;
  let eni: Eni;
  let network: Network;
  let pings: Pings;
  let before: string;

  const files = () =>
    machine.run('find', '/etc', '/opt', '/usr/local', '/var/lib/task-eni', '/var/log/task-eni', '-xdev');
  const inTask = (...command: string[]) => machine.run('nsenter', `--net=${network.sandbox.netns}`, ...command);
  const fetchKey = async () => {
    const url = `http://169.254.170.2${network.credentials.relativeUri}`;
    const answer = await inTask('curl', '-sS', '--max-time', '5', '--retry', '20', '--retry-delay', '1', url);
    return (JSON.parse(answer) as { AccessKeyId?: string }).AccessKeyId;
  };
  const mainProcess = () => machine.property('task-eni', 'MainPID');

  beforeAll(async () => {
    const installed = await installByScript(await packTarball());
    lab = await Lab.create({ name: 'systemd', dhcp: true });
    machine = await Machine.start(lab, { package: installed, checkout: inCheckout('.') });
    await machine.run('mkdir', '-p', '/var/lib/task-eni', '/var/log/task-eni');
    before = await files();
    await machine.run(...install);
    await machine.systemctl('start', 'task-eni');
  }, 300_000);
  afterAll(async () => {
    await machine?.halt();
    await lab?.destroy();
  });

  it('is sound to systemd', async () => {
    await machine.run('systemd-analyze', 'verify', '/etc/systemd/system/task-eni.service');
  });

  it('has started when the API answers, not before', async () => {
    expect(await machine.property('task-eni', 'Type')).toBe('notify');
    expect(await machine.property('task-eni', 'ActiveState')).toBe('active');
    const ready = await machine.run(
      'curl',
      '-sS',
      '--unix-socket',
      '/run/task-eni/api.sock',
      '-w',
      '%{http_code}',
      'http://localhost/readyz',
    );
    expect(ready).toMatch(/200$/);
  });

  it('keeps files from others, but for those that they are to see', async () => {
    const shown = [
      '/run/netns',
      '/run/netns/task-eni',
      '/run/task-eni',
      '/run/task-eni/api.sock',
      '/run/task-eni/token',
    ];
    const logs = ['/var/log/task-eni', '/var/log/task-eni/audit.log', '/var/lib/task-eni'];
    const modes = await machine.run('stat', '--format=%a', ...shown, ...logs);
    expect(modes.trim().split('\n')).toEqual(['755', '444', '700', '600', '600', '750', '640', '700']);
    expect(await machine.run('find', '/var/lib/task-eni', '-perm', '/077')).toBe('');
  });

  it("gives the service no mount namespace of its own, in which tasks' namespaces would die with it", async () => {
    const own = await machine.run('readlink', `/proc/${await mainProcess()}/ns/mnt`);
    expect(own).toBe(await machine.run('readlink', '/proc/1/ns/mnt'));
  });

  it('gives the service the capabilities that it names, and no others', async () => {
    const status = await machine.run('cat', `/proc/${await mainProcess()}/status`);
    for (const field of ['CapPrm', 'CapEff', 'CapBnd']) {
      const held = await run('capsh', [`--decode=${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`]);
      const named = (await machine.property('task-eni', 'CapabilityBoundingSet')).split(' ');
      expect(held.trim().split('=')[1]?.split(',').toSorted()).toEqual(named.toSorted());
      expect(named).not.toContain('cap_dac_override');
    }
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
    expect(status).toMatch(/^Seccomp:\s2$/m);
  });

  it('attaches a task with its credentials and its lease', async () => {
    eni = await lab.createEni();
    network = await machine.api<Network>('POST', '/tasks/web-1/network', { eni: { macAddress: eni.mac }, credentials });
    expect(network).toMatchObject({ state: 'READY' });
    pings = await Pings.start(lab, machine.outside(network.sandbox.netns), gateway);
    expect(await fetchKey()).toBe('ASIAIOSFODNN7EXAMPLE');
    const lease = async () => (await machine.api<Network>('GET', '/tasks/web-1/network')).lease.state;
    await expect.poll(lease, { timeout: 20_000 }).toBe('bound');
  });

  it.each([
    ['is restarted', () => machine.systemctl('restart', 'task-eni')],
    ['is killed', () => machine.systemctl('kill', '--signal=KILL', 'task-eni')],
    ['is replaced by another version', () => machine.run(...install)],
    [
      'is stopped for a while',
      () => machine.systemctl('stop', 'task-eni').then(() => machine.systemctl('start', 'task-eni')),
    ],
  ])('leaves the task its network and its credentials when it %s', async (_how, interrupt) => {
    const former = await mainProcess();
    await interrupt();
    await expect.poll(mainProcess, { timeout: 20_000 }).not.toBe(former);
    await expect.poll(() => machine.property('task-eni', 'ActiveState'), { timeout: 20_000 }).toBe('active');
    expect(await machine.api('GET', '/tasks/web-1/network?verify=true')).toMatchObject({ state: 'READY', drift: [] });
    expect(await fetchKey()).toBe('ASIAIOSFODNN7EXAMPLE');
  });

  it('has lost no packet of the task in all that', async () => {
    const { sent, lost } = await pings.stop();
    expect(sent).toBeGreaterThan(100);
    expect(lost).toBe(0);
  });

  it('opens the audit log again on a reload, as logrotate asks', async () => {
    await machine.run('mv', '/var/log/task-eni/audit.log', '/var/log/task-eni/audit.log.1');
    await machine.systemctl('reload', 'task-eni');
    await expect
      .poll(
        async () => {
          await fetchKey();
          return machine.run('sh', '-c', 'cat /var/log/task-eni/audit.log 2>/dev/null || true');
        },
        { timeout: 10_000 },
      )
      .toContain('GetCredentials');
  });

  it('is not purged while a task has a network', async () => {
    await expect(machine.run(install[0], 'remove', '--purge')).rejects.toThrow(/detach them first/);
    expect(await machine.property('task-eni', 'ActiveState')).toBe('active');
  });

  it('detaches the task, and is taken away without a trace', async () => {
    expect(await machine.api('DELETE', '/tasks/web-1/network')).toMatchObject({ state: 'DETACHED' });
    expect(await eni.locate()).toMatchObject({ name: eni.hostName, netns: lab.host.path });
    await machine.run(install[0], 'remove', '--purge');
    expect(await machine.property('task-eni', 'LoadState')).toBe('not-found');
    const left = new Set((await files().catch((error: { stdout: string }) => error.stdout)).split('\n'));
    for (const name of before.split('\n')) left.delete(name);
    const folders = ['/etc/udev', '/etc/systemd/network', '/etc/logrotate.d', '/usr/local/lib', '/etc/netns'];
    expect([...left].filter((name) => !folders.includes(name))).toEqual([]);
  });
});
