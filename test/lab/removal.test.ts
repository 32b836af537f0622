import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from './checkout.js';
import { run } from './command.js';
import { Lab } from './lab.js';
import { labProcesses } from './process-table.js';
import { mountsBelow } from './sweep.js';

/** The machine's own network, without what counts down by itself. */
async function machine(): Promise<string[]> {
  const parts = [
    'link',
    'address',
    'route show table all',
    '-6 route show table all',
    'rule',
    '-6 rule',
    'neigh show nud permanent',
  ];
  const listed = await Promise.all(parts.map((part) => run('ip', ['-j', ...part.split(' ')])));
  const files = await Promise.all(
    ['/etc/resolv.conf', '/proc/sys/net/ipv4/ip_forward'].map((file) => readFile(file, 'utf8')),
  );
  return [
    ...listed.map((text) => text.replaceAll(/"(?:valid_life_time|preferred_life_time|expires)":\d+/g, '')),
    ...files,
  ];
}

/** What is left of a lab anywhere on the machine. */
async function traces(id: string): Promise<string[]> {
  const names = await Promise.all(
    ['/run/netns', '/dev/shm/task-eni-lab', '/etc/netns', '/var/lib/dhcp'].map(async (directory) =>
      existsSync(directory) ? (await readdir(directory)).map((name) => `${directory}/${name}`) : [],
    ),
  );
  const mounts = await mountsBelow(['/run/netns', '/dev/shm/task-eni-lab']);
  const processes = (await labProcesses([id], new Set())).map((pid) => `pid ${pid}`);
  return [
    ...[...names.flat(), ...mounts].filter((path) => path.includes(id) || path.includes(leaseHash)),
    ...processes,
  ];
}

const leaseHash = '0123456789abcdef0123';

/** What a creator does before it is killed: all kinds of things that outlive it. */
const creator = `
import { mkdir, writeFile } from 'node:fs/promises';
import { Lab } from './lab.js';
const lab = await Lab.create({ dhcp: true });
await lab.createEni();
await lab.createNamespace('${leaseHash}');
await lab.host.run('sh', '-c', 'ip netns add ' + lab.id);
lab.host.start('sleep', ['600'], { detached: true, stdio: 'ignore' });
lab.host.start('unshare', ['--net', 'sleep', '600'], { detached: true, stdio: 'ignore' });
await mkdir(lab.directory + '/state/tasks', { recursive: true });
await mkdir('/etc/netns/' + lab.id + '-${leaseHash}', { recursive: true });
await writeFile('/var/lib/dhcp/dhclient-te-${leaseHash}-4.leases', '');
await lab.host.run('mount', '--bind', lab.directory + '/state', lab.directory + '/state/tasks');
console.log(lab.id);
setInterval(() => {}, 1000);
`;

describe('a lab that is destroyed', () => {
  it('leaves no trace, whoever had been started in it, and may be destroyed again', async () => {
    const lab = await Lab.create({ dhcp: true, routerAdvertisements: true });
    await lab.createEni();
    await lab.createNamespace();
    await lab.createNeighbour();
    lab.startChurn();
    lab.vpc.start('sleep', ['600'], { stdio: 'ignore' });
    expect(await traces(lab.id)).not.toEqual([]);
    await lab.destroy();
    expect(await traces(lab.id)).toEqual([]);
    await lab.destroy();
  });

  it("leaves the machine's own links, addresses, routes and rules byte for byte as they were", async () => {
    const before = await machine();
    const lab = await Lab.create({ dhcp: true, routerAdvertisements: true });
    await lab.createEni();
    await lab.addLinks(10);
    expect(await machine()).toEqual(before);
    await lab.destroy();
    expect(await machine()).toEqual(before);
  });
});

describe('labs side by side', () => {
  let one: Lab;
  let other: Lab;
  beforeAll(async () => {
    [one, other] = await Promise.all([Lab.create(), Lab.create()]);
  });
  afterAll(() => Promise.all([one.destroy(), other.destroy()]));

  it('have the same addresses and do not meet', async () => {
    const mac = '02:00:00:00:00:01';
    const enis = await Promise.all([one, other].map((lab) => lab.createEni({ mac, ipv4: '172.31.13.14' })));
    expect(await Promise.all(enis.map((eni) => eni.locate()))).toEqual([
      { netns: one.host.path, name: 'eth1' },
      { netns: other.host.path, name: 'eth1' },
    ]);
    await enis[0]?.detach();
    expect(await enis[0]?.locate()).toBeUndefined();
    expect(await enis[1]?.locate()).toBeDefined();
    await one.vpc.run('ip', 'link', 'set', 'vpc0', 'down');
    await other.host.run('ping', '-c1', '-W2', '172.31.0.1');
  });
});

describe('a lab whose creator was killed', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(`${tmpdir()}/task-eni-lab-compiled-`);
    await run('npx', ['tsc', '-p', inCheckout('test/lab'), '--outDir', directory], { cwd: inCheckout('.') });
    await writeFile(`${directory}/package.json`, '{"type":"module"}');
    await writeFile(`${directory}/creator.js`, creator);
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('is there until others are created, at the same time even, and then nothing of it is', async () => {
    const child = spawn(process.execPath, [`${directory}/creator.js`], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [id] = (await once(createInterface(child.stdout), 'line')) as [string];
    const living = await Lab.create();
    expect(await traces(id)).toContain(`/run/netns/${id}-host`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const left = await traces(id);
    expect(left).toEqual(
      expect.arrayContaining([`/run/netns/${id}`, `/var/lib/dhcp/dhclient-te-${leaseHash}-4.leases`]),
    );
    expect(left.filter((each) => each.startsWith('pid')).length).toBeGreaterThanOrEqual(3);

    const next = await Promise.all([Lab.create(), Lab.create()]);
    expect(await traces(id)).toEqual([]);
    await living.host.run('ping', '-c1', '-W2', '172.31.0.1');
    await Promise.all([living, ...next].map((lab) => lab.destroy()));
  });
});
