/** What configures the network of hosts, each as its distribution ships it. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Machine, System } from './machine.js';

export interface NetworkTool {
  readonly name: string;
  /** A program that the machine must have. */
  readonly program: string;
  readonly unit: string;
  readonly files: Readonly<Record<string, string>>;
  /** Makes of the files what the unit reads. */
  readonly before?: readonly string[];
  /** Its word for a link that it has configured. */
  readonly configured: string;
  /** Its word for a link's state. */
  state(machine: Machine, link: string): Promise<string>;
}

const networkd = {
  program: '/lib/systemd/systemd-networkd',
  unit: 'systemd-networkd',
  configured: 'configured',
  async state(machine: Machine, link: string) {
    const line = await machine.run('networkctl', '--no-pager', '--no-legend', 'list', link);
    return line.trim().split(/\s+/).at(-1) ?? '';
  },
};

/** The lab's links are veths; on EC2 the driver is ena, ixgbevf or vif. */
const amazonLinux = {
  '/etc/systemd/network/80-ec2.network': `[Match]
Driver=veth
[Link]
MTUBytes=9001
[Network]
DHCP=yes
LLMNR=no
[DHCPv4]
UseHostname=no
`,
  '/etc/udev/rules.d/99-vpc-policy-routes.rules':
    'SUBSYSTEM=="net", ACTION=="add", ENV{ID_NET_DRIVER}=="veth", RUN+="/bin/systemctl start --no-block policy-routes@$name.service"\n',
  '/etc/systemd/system/policy-routes@.service': '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n',
};

const debian = `network:
  version: 2
  renderer: networkd
  ethernets:
    all-en: { match: { name: "en*" }, dhcp4: true, dhcp6: true }
    all-eth: { match: { name: "eth*" }, dhcp4: true, dhcp6: true }
`;

/** What netplan makes of that. */
const rendered =
  '[Match]\nName=eth*\n[Network]\nDHCP=yes\nLinkLocalAddressing=ipv6\n[DHCP]\nRouteMetric=100\nUseMTU=true\n';

export const networkTools: readonly NetworkTool[] = [
  {
    ...networkd,
    name: "systemd-networkd with netplan's files for every link, as on Debian",
    files: { '/run/systemd/network/10-netplan-all-eth.network': rendered },
  },
  {
    ...networkd,
    name: 'netplan itself with the settings of Debian',
    program: '/usr/sbin/netplan',
    files: { '/etc/netplan/90-default.yaml': debian },
    before: ['netplan', 'generate'],
  },
  {
    ...networkd,
    name: 'systemd-networkd with the files of Amazon Linux 2023',
    files: amazonLinux,
  },
  {
    name: 'NetworkManager, as on RHEL',
    program: '/usr/sbin/NetworkManager',
    unit: 'NetworkManager',
    files: { '/etc/NetworkManager/NetworkManager.conf': '[main]\nplugins=keyfile\n' },
    configured: 'connected',
    async state(machine, link) {
      const lines = await machine.run('nmcli', '--terse', '--fields', 'DEVICE,STATE', 'device');
      return (
        lines
          .split('\n')
          .find((line) => line.startsWith(`${link}:`))
          ?.split(':')[1] ?? ''
      );
    },
  },
];

/**
 * The root of a distribution in the folder TASK_ENI_TEST_ROOT, or this machine's with NetworkManager added, as
 * install-network-manager.sh has unpacked it.
 */
export function systemUnderTest(): System {
  const units = '/usr/lib/systemd/system';
  const root = process.env['TASK_ENI_TEST_ROOT'];
  if (root !== undefined) return { root, units };
  const top = `${process.env['XDG_CACHE_HOME'] ?? `${homedir()}/.cache`}/task-eni-tests/network-manager`;
  return existsSync(top) ? { top, units } : { units };
}

/** Why a machine with this tool cannot be had; undefined when it can. */
export function missingFor(tool: NetworkTool): string | undefined {
  const { root = '', top = root } = systemUnderTest();
  const isThere = (program: string) => existsSync(root + program) || existsSync(top + program);
  const missing = ['/usr/bin/dbus-daemon', '/usr/bin/udevadm', tool.program].find((program) => !isThere(program));
  return missing && `${missing} is missing`;
}
