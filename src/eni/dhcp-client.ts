/** Whether a process is the host's DHCP client of one link. Pure. */
import { basename } from 'node:path';
import type { Process } from '../kernel/processes.js';

export const dhcpPrograms: ReadonlySet<string> = new Set(['dhclient', 'dhcpcd', 'udhcpc', 'busybox']);

/** Options that take the next argument with them (dhclient(8), dhcpcd(8)). */
const valued: Readonly<Record<string, readonly string[]>> = {
  dhclient: (
    '-p -s -g -cf -df -lf -pf -sf -e -C -V -F -U -D ' +
    '--timeout --dad-wait-time --decline-wait-time --prefix-len-hint --address-prefix-len'
  ).split(' '),
  dhcpcd: '-c -e -f -h -i -j -l -m -o -r -s -t -u -v -y -z -C'.split(' '),
};

/** What udhcpc was told; undefined for another part of busybox. */
function udhcpcArguments(argv: readonly string[]): readonly string[] | undefined {
  const at = argv.slice(0, 2).findIndex((word) => basename(word) === 'udhcpc');
  return at === -1 ? undefined : argv.slice(at + 1);
}

function udhcpcInterfaces(args: readonly string[]): string[] {
  const flag = args.findIndex((word) => word.startsWith('-i') || word.startsWith('--interface'));
  const value = args[flag]?.replace(/^(?:--interface=?|-i)/, '');
  const name = value === '' ? args[flag + 1] : value;
  return name === undefined ? [] : [name];
}

/** The interfaces named on the command line. */
function interfacesOf({ program, argv }: Process): string[] {
  if (program === 'udhcpc' || program === 'busybox') return udhcpcInterfaces(udhcpcArguments(argv) ?? []);
  const options = valued[program] ?? [];
  return argv.slice(1).filter((word, at) => !word.startsWith('-') && !options.includes(argv[at] ?? ''));
}

/** One that serves other links too is not this link's, and must go on. */
export function isDhcpClientOf(process: Process, link: string): boolean {
  const names = interfacesOf(process);
  return names.length === 1 && names[0] === link;
}
