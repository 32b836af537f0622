import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import { installByScript, packTarball } from './installed-package.js';
import { Machine, missingForMachine } from './machine.js';
import { missingFor, networkTools, systemUnderTest, type NetworkTool } from './network-tool.js';

const install = ['/mnt/checkout/deploy/install.sh', 'install', '--from', '/mnt/package/opt/task-eni'] as const;
const soon = { timeout: 30_000, interval: 200 };

const cases = networkTools.map((tool) => [missingForMachine() ?? missingFor(tool), tool] as const);
describe.each(
  cases.map(([missing, tool]) => ({ missing, tool, title: missing ? `${tool.name} (${missing})` : tool.name })),
)('$title', ({ missing, tool }) => {
  describe.skipIf(missing !== undefined)('on a host with task-eni', () => leavesTasksAlone(tool));
});

function leavesTasksAlone(tool: NetworkTool): void {
  let lab: Lab;
  let machine: Machine;
  let listed = '';

  const addresses = async (link: string) => {
    const shown = await lab.host.ip<{ addr_info: { local: string; dynamic?: boolean }[] }[]>(
      'address',
      'show',
      'dev',
      link,
    );
    return shown.flatMap(({ addr_info }) => addr_info.filter(({ dynamic }) => dynamic).map(({ local }) => local));
  };
  const isConfigured = async (eni: Eni) => {
    await expect.poll(() => addresses(eni.hostName), soon).toContain(eni.ipv4Address.split('/')[0]);
    await expect.poll(() => tool.state(machine, eni.hostName), soon).toBe(tool.configured);
  };
  /** An ENI that is listed as the host's. Once it is configured, so is what was there before it, if it ever is. */
  const hostsOwnEniIsConfigured = async () => {
    const mac = `02:00:5e:10:00:${listed.length.toString(16).padStart(2, '0')}`;
    listed += `${mac}\n`;
    await writeFile(machine.outside('/etc/task-eni/host-enis'), listed);
    await isConfigured(await lab.createEni({ mac }));
  };
  const isLeftAlone = async (eni: Eni) => {
    await hostsOwnEniIsConfigured();
    await expect.poll(() => tool.state(machine, eni.hostName), soon).toBe('unmanaged');
    const [link] = await lab.host.ip<{ flags: string[]; addr_info: object[] }[]>(
      'address',
      'show',
      'dev',
      eni.hostName,
    );
    expect(link).toMatchObject({ operstate: 'DOWN', addr_info: [] });
    expect(await lab.host.ip('route', 'show', 'table', 'all', 'dev', eni.hostName)).toEqual([]);
    const units = await machine.systemctl('list-units', '--all', '--plain', '--no-legend', 'policy-routes@*');
    expect(units).not.toContain(`@${eni.hostName}.`);
  };
  const asked = (eni: Eni) => lab.dhcp.messages().filter(({ mac }) => mac === eni.mac);

  beforeAll(async () => {
    const installed = await installByScript(await packTarball());
    lab = await Lab.create({ name: 'network tools', dhcp: true });
    // Nothing that the lab has configured: the host's own ENI is the tool's as well.
    await lab.host.run('ip', 'address', 'flush', 'dev', 'eth0', 'scope', 'global');
    const [own] = await lab.host.ip('link', 'show', 'eth0');
    await lab.dhcp.addHost({ mac: own?.address ?? '', ipv4Address: '172.31.0.10/20', ipv6Address: null });
    machine = await Machine.start(lab, { package: installed, checkout: inCheckout('.') }, systemUnderTest());
    for (const [path, content] of Object.entries(tool.files)) {
      await mkdir(machine.outside(dirname(path)), { recursive: true });
      await writeFile(machine.outside(path), content, { mode: 0o600 });
      await machine.run('chmod', '0644', path);
    }
    if (tool.before) await machine.run(...(tool.before as [string, ...string[]]));
    await machine.systemctl('start', 'dbus', 'systemd-udevd');
    await machine.run('udevadm', 'trigger', '--subsystem-match=net', '--action=add', '--settle');
    await machine.systemctl('start', tool.unit);
  }, 300_000);
  afterAll(async () => {
    await machine?.halt();
    await lab?.destroy();
  });

  it('configures every ENI as long as it is not told better', async () => {
    const eni = await lab.createEni();
    await isConfigured(eni);
    expect(asked(eni)).not.toEqual([]);
    if ('/etc/systemd/system/policy-routes@.service' in tool.files)
      await expect.poll(() => machine.property(`policy-routes@${eni.hostName}`, 'ActiveState'), soon).toBe('active');
  });

  it("leaves tasks' ENIs alone with the rules, and goes on to configure the host's", async () => {
    await machine.run(...install);
    await machine.run('sed', '-i', 's/DRIVERS=="[^"]*"/KERNEL=="eth*"/', '/etc/udev/rules.d/99-zz-task-eni.rules');
    await machine.run('udevadm', 'control', '--reload');
    await machine.systemctl('start', 'task-eni-host-enis', 'task-eni');
    const eni = await lab.createEni();
    await isLeftAlone(eni);
    expect(asked(eni)).toEqual([]);
    await expect.poll(() => addresses('eth0'), soon).toContain('172.31.0.10');
    expect(await tool.state(machine, 'eth0')).toBe(tool.configured);
  });

  it('leaves an ENI alone that comes home from its task', async () => {
    const eni = await lab.createEni();
    const network = { eni: { macAddress: eni.mac }, dhcp: false };
    expect(await machine.api('POST', '/tasks/web-1/network', network)).toMatchObject({ state: 'READY' });
    expect(await machine.api('DELETE', '/tasks/web-1/network')).toMatchObject({ state: 'DETACHED' });
    expect(await eni.locate()).toMatchObject({ name: eni.hostName, netns: lab.host.path });
    await isLeftAlone(eni);
    expect(asked(eni)).toEqual([]);
  });
}
