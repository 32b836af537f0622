/** Which interface a DHCP client of the host serves, by its executable and its arguments. */

/** Executables that can be a DHCP client; busybox is one only as udhcpc. */
export const hostClientNames: ReadonlySet<string> = new Set([
  'dhclient',
  'dhcpcd',
  'dhcpcd5',
  'udhcpc',
  'udhcpc6',
  'busybox',
]);

/**
 * The interface of a client that serves exactly one, or undefined: the process is no DHCP client, or serves every interface
 * or several, which must not lose theirs because one goes away.
 */
export function servedInterface(executable: string, args: readonly string[]): string | undefined {
  const [self = '', ...rest] = args;
  if (executable === 'dhclient') return only(positionals(rest, dhclientOptions));
  if (executable.startsWith('dhcpcd')) return titledInterface(args) ?? only(positionals(rest, dhcpcdOptions));
  if (executable !== 'busybox') return executable.startsWith('udhcpc') ? udhcpcInterface(rest) : undefined;
  if (/(?:^|\/)udhcpc6?$/.test(self)) return udhcpcInterface(rest);
  return /^udhcpc6?$/.test(rest[0] ?? '') ? udhcpcInterface(rest.slice(1)) : undefined;
}

type TakesValue = (option: string) => boolean;

/** dhclient(8): options are whole words; the second line is what Red Hat's and Amazon's builds add. */
const dhclientValues = new Set(
  [
    '-p -D -df -e -lf -pf -cf -sf -s -g -4o6 --dad-wait-time --prefix-len-hint --decline-wait-time'.split(' '),
    '--address-prefix-len -C -H -F -V -timeout --timeout'.split(' '),
  ].flat(),
);
const dhclientOptions: TakesValue = (option) => dhclientValues.has(option);

/** dhcpcd(8), by getopt: a value may be the rest of the word. */
const dhcpcdOptions: TakesValue = (option) => {
  if (option.startsWith('--')) return !option.includes('=') && dhcpcdLongValues.has(option);
  const first = option.slice(1).search(/[cefhijlmorstuvyzCDFIOQSWXZ]/);
  return first !== -1 && first === option.length - 2;
};
const dhcpcdLongValues = new Set(
  [
    '--script --env --config --hostname --vendorclassid --logfile --leasetime --metric --option --reboot'.split(' '),
    '--request --static --timeout --userclass --vendor --reject --allowinterfaces --denyinterfaces'.split(' '),
    '--nohook --fqdn --clientid --nooption --require --whitelist --blacklist'.split(' '),
  ].flat(),
);

function positionals(args: readonly string[], takesValue: TakesValue): string[] {
  return args.filter((arg, index) => !arg.startsWith('-') && !takesValue(args[index - 1] ?? ''));
}

function only(interfaces: readonly string[]): string | undefined {
  return interfaces.length === 1 ? interfaces[0] : undefined;
}

/**
 * dhcpcd 9 and later overwrite their arguments with a title: `dhcpcd: eth1 [ip4] [ip6]` for one interface,
 * `dhcpcd: [manager] [ip4]` for all. Its helper processes, `dhcpcd: [network proxy] eth1`, end with it.
 */
function titledInterface(args: readonly string[]): string | undefined {
  return /^dhcpcd: ([^\s[]+)(?: \[ip[46]\])*$/.exec(args[0] ?? '')?.[1];
}

/** busybox udhcpc: `-i eth1`, also joined or in a cluster, or `--interface`; without any it is eth0. */
function udhcpcInterface(args: readonly string[]): string {
  for (const [index, arg] of args.entries()) {
    const long = /^--interface(?:=(.*))?$/.exec(arg);
    if (long !== null) return long[1] ?? args[index + 1] ?? '';
    const cluster = /^-[A-Za-z]*?([iVHhFpcrstTAOxP])(.*)$/.exec(arg);
    if (cluster?.[1] === 'i') return cluster[2] === '' ? (args[index + 1] ?? '') : (cluster[2] ?? '');
  }
  return 'eth0';
}
