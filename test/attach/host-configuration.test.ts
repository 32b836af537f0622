import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;
let host: Inside;
let eni: Eni;
let other: Eni;
const clients = new Map<Eni, ReturnType<Lab['host']['start']>>();

/** What tools of a host do with an ENI that appears: its address, a table of its own, rules to it, and a DHCP client. */
function configurationOf({ hostName, ipv4Address, ipv6Address }: Eni, table: number): string[] {
  const address = ipv4Address.split('/')[0];
  return [
    `link set ${hostName} up`,
    `address add ${ipv4Address} dev ${hostName}`,
    `address add ${ipv6Address} dev ${hostName} nodad`,
    `route add 10.${table}.0.0/16 via 172.31.0.1 dev ${hostName}`,
    `route add default via 172.31.0.1 dev ${hostName} table ${table}`,
    `route add 172.31.0.0/20 dev ${hostName} table ${table}`,
    `rule add from ${address} lookup ${table} priority ${table}`,
    `rule add iif ${hostName} lookup ${table} priority ${table + 1}`,
    `rule add oif ${hostName} lookup main priority ${table + 2}`,
    `route add ::/0 via fe80::1 dev ${hostName} table ${table}`,
  ];
}

async function rules(): Promise<number[]> {
  const both = [
    await host.ip<{ priority: number }[]>('-4', 'rule'),
    await host.ip<{ priority: number }[]>('-6', 'rule'),
  ];
  return both.flat().map(({ priority }) => priority);
}

/** Routes of every table that lead by the link. */
async function routesBy({ hostName }: Eni): Promise<string[]> {
  const text = await host.run('ip', 'route', 'show', 'table', 'all', 'dev', hostName);
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .toSorted();
}

async function startClient(of: Eni): Promise<void> {
  const files = ['-pf', `${lab.directory}/${of.hostName}.pid`, '-lf', `${lab.directory}/${of.hostName}.leases`];
  clients.set(
    of,
    lab.host.start('dhclient', ['-4', '-d', '-sf', '/bin/true', ...files, of.hostName], { stdio: 'ignore' }),
  );
  const bound = () => lab.dhcp.messages().some(({ type, mac }) => type === 'DHCPACK' && mac === of.mac);
  await vi.waitUntil(bound, { timeout: 20_000 });
}

beforeAll(async () => {
  lab = await Lab.create({ name: 'host configuration', dhcp: true });
  host = new Inside(lab.host.path);
  service = await lab.startService();
  eni = await lab.createEni();
  other = await lab.createEni();
  await lab.host.ipBatch([...configurationOf(eni, 110), ...configurationOf(other, 120)]);
  await host.run(
    'ip',
    '-6',
    'rule',
    'add',
    'from',
    eni.ipv6Address?.split('/')[0] ?? '',
    'lookup',
    '110',
    'priority',
    '110',
  );
  await Promise.all([startClient(eni), startClient(other)]);
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

it("clears away what the host had configured on the ENI, and nothing of another link's", async () => {
  const metadataRoute = await host.run('ip', 'route', 'get', '169.254.169.254');
  const before = { addresses: await host.addresses(), routes: await routesBy(other), rules: await rules() };
  expect(before.rules).toEqual(expect.arrayContaining([110, 111, 112, 120, 121, 122]));

  const { status, body } = await service.post('web', { eni: { macAddress: eni.mac } });
  expect(status, JSON.stringify(body)).toBe(201);

  expect(await host.addresses()).toEqual(before.addresses.filter((line) => !line.startsWith(`${eni.hostName} `)));
  expect(await routesBy(other)).toEqual(before.routes);
  expect(await rules()).toEqual(before.rules.filter((priority) => priority < 110 || priority > 112));
  expect(await host.run('ip', 'route', 'show', 'table', 'all')).not.toMatch(/table 110|10\.110\./);
  expect(await host.run('ip', '-6', 'rule', 'show')).not.toContain('lookup 110');
  expect(await host.run('ip', 'route', 'get', '169.254.169.254')).toBe(metadataRoute);
});

it("ends the host's DHCP client of the ENI alone", async () => {
  const ended = (of: Eni) => {
    const client = clients.get(of);
    return client?.exitCode !== null || client.signalCode !== null;
  };
  await expect.poll(() => ended(eni), { timeout: 5_000 }).toBe(true);
  expect(ended(other)).toBe(false);
});

it('gives back a bare link, since what the host had put on it is not put back', async () => {
  expect((await service.del('web')).status).toBe(200);
  const home = await host.link(eni.hostName);
  expect(home.flags).not.toContain('UP');
  expect(home.addr_info).toEqual([]);
  expect(await routesBy(eni)).toEqual([]);
});
