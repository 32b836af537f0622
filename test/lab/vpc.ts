/** The addresses of the pretend VPC, and the commands that make it. Pure. */

export const vpc = {
  subnet: '172.31.0.0/20',
  cidr: '172.31.0.0/16',
  gateway: '172.31.0.1',
  primary: '172.31.0.10',
  prefix: 20,
  ipv6Subnet: '2001:db8:1::/64',
  ipv6Cidr: '2001:db8::/56',
  ipv6Prefix: 64,
  ipv6Gateway: 'fe80::1',
  ipv6RouterAddress: '2001:db8:1::1',
  ipv6Primary: '2001:db8:1::10',
  switchName: 'vpc0',
  switchMac: '02:00:5e:00:00:01',
  metadata: '169.254.169.254',
  ipv6Metadata: 'fd00:ec2::254',
  mtu: 9001,
} as const;

/** The n-th ENI's address: outside the range of gateway, DNS and primary interface. */
export function nthIpv4(n: number): string {
  if (n >= 14 * 250) throw new RangeError(`the lab's subnet has no address for ENI number ${n}`);
  return `172.31.${1 + Math.floor(n / 250)}.${1 + (n % 250)}`;
}

export function nthIpv6(n: number): string {
  return `2001:db8:1::${(0x100 + n).toString(16)}`;
}

/** Locally administered, and different in every lab of every process. */
export function nthMac(labNumber: number, n: number): string {
  const bytes = [0x02, process.pid >> 8, process.pid, labNumber, n >> 8, n];
  return bytes.map((byte) => (byte & 0xff).toString(16).padStart(2, '0')).join(':');
}

/** Sysctls of a namespace whose IPv6 addresses are usable at once, or that has no IPv6. */
export function namespaceSysctls(ipv6: boolean): [string, string][] {
  const settings: [string, string][] = [['ipv4/ip_forward', '0']];
  for (const scope of ['all', 'default', 'lo']) settings.push([`ipv6/conf/${scope}/disable_ipv6`, ipv6 ? '0' : '1']);
  if (ipv6) settings.push(['ipv6/conf/all/accept_dad', '0'], ['ipv6/conf/default/accept_dad', '0']);
  return settings;
}

/** A router: it forwards, and does not tell senders of a shorter way, since the shorter way is the host. */
export function routerSysctls(ipv6: boolean): [string, string][] {
  return [
    ...namespaceSysctls(ipv6).filter(([key]) => key !== 'ipv4/ip_forward'),
    ['ipv4/ip_forward', '1'],
    ['ipv4/conf/all/send_redirects', '0'],
    ['ipv4/conf/default/send_redirects', '0'],
    ...(ipv6 ? ([['ipv6/conf/all/forwarding', '1']] as [string, string][]) : []),
  ];
}

/** A shell script that writes sysctls of the namespace it runs in. */
export function sysctlScript(settings: readonly [string, string][]): string {
  return settings
    .map(([key, value]) => `[ ! -e /proc/sys/net/${key} ] || echo ${value} > /proc/sys/net/${key}`)
    .join('\n');
}

/** A wire from the switch to a link in another namespace; the far end comes to be there. */
export function wireLines(wire: string, far: { netns: string; name: string; mac: string; mtu: number }): string[] {
  return [
    `link add ${wire} mtu ${far.mtu} type veth peer name ${far.name} address ${far.mac} mtu ${far.mtu} netns ${far.netns}`,
    `link set ${wire} addrgenmode none master ${vpc.switchName} up`,
  ];
}

/** The subnet's switch with the router on it. Metadata is reached through it by every ENI, as on EC2. */
export function switchLines(ipv6: boolean): string[] {
  const lines = [
    'link set lo up',
    `link add ${vpc.switchName} address ${vpc.switchMac} mtu ${vpc.mtu} type bridge forward_delay 0 mcast_snooping 0`,
    `link set ${vpc.switchName} addrgenmode none up`,
    `address add ${vpc.gateway}/${vpc.prefix} dev ${vpc.switchName}`,
    `route add ${vpc.metadata}/32 via ${vpc.primary}`,
  ];
  if (!ipv6) return lines;
  return [
    ...lines,
    `address add ${vpc.ipv6Gateway}/64 dev ${vpc.switchName} nodad`,
    `address add ${vpc.ipv6RouterAddress}/${vpc.ipv6Prefix} dev ${vpc.switchName} nodad`,
    `route add ${vpc.ipv6Metadata}/128 via ${vpc.ipv6Primary} dev ${vpc.switchName}`,
  ];
}

/** A machine with fixed addresses takes no advertised ones: its own default route would clash with one just learnt. */
export const memberSysctls: [string, string][] = [['ipv6/conf/eth0/accept_ra', '0']];

/** Addresses and default routes of a machine on the subnet. */
export function memberLines(name: string, ipv4: string, ipv6: string | null): string[] {
  const lines = [
    `link set lo up`,
    `link set ${name} up`,
    `address add ${ipv4}/${vpc.prefix} dev ${name}`,
    `route add default via ${vpc.gateway} dev ${name}`,
  ];
  if (ipv6 === null) return lines;
  return [
    ...lines,
    `address add ${ipv6}/${vpc.ipv6Prefix} dev ${name} nodad`,
    `route add default via ${vpc.ipv6Gateway} dev ${name}`,
  ];
}

export function metadataAddressLines(ipv6: boolean): string[] {
  const lines = [`address add ${vpc.metadata}/32 dev lo`];
  return ipv6 ? [...lines, `address add ${vpc.ipv6Metadata}/128 dev lo nodad`] : lines;
}
