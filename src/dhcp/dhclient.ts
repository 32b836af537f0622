/**
 * All that is particular to ISC dhclient (dhclient(8), dhclient.conf(5), dhclient.leases(5)); tried with 4.4.3.
 *
 * What a lease is about is read from dhclient's own lease file, and the script it wants to run at each event is `true`. A
 * script of ours that reports events was tried too, and a file is the better witness:
 * - dhclient writes the lease before it runs the script, so the file knows no later than the script would.
 * - No code runs at an event, so none can touch resolv.conf, the host's name, addresses or routes; nothing has to lie on a
 *   file system that allows execution (/run often does not), and there is no channel into the service that others could use.
 * - AppArmor's profile of dhclient (Debian, Ubuntu) already allows the file. The script it allows only by an addition
 *   (deploy/apparmor); without that, dhclient notes the refusal and goes on: a script that cannot be executed counts as one
 *   that succeeded. A reporting script would just fall silent.
 *
 * The configuration is our own too: the host's may name another script, supersede options for the host's eth0, or have
 * dhclient send the host's name.
 */
import type { Ipv4, Ipv6 } from '../addresses/cidr.js';
import { parseIpv4, parseIpv6 } from '../addresses/cidr.js';
import { findExecutable } from './executable.js';
import type { Family, Grant } from './lease.js';
import { type Statement, parseStatements } from './statements.js';

/** Executables by absolute path. */
export interface Dhclient {
  readonly dhclient: string;
  readonly setpriv: string;
  readonly script: string;
}

/** null: no client is to run. With `dhclient` a missing executable is told by each lease as `failed`, not passed over. */
export function findDhclient(setting: 'auto' | 'dhclient' | 'off', searchPath?: string): Dhclient | null {
  if (setting === 'off') return null;
  const dhclient = findExecutable('dhclient', searchPath);
  if (dhclient === undefined && setting === 'auto') return null;
  return {
    dhclient: dhclient ?? '/sbin/dhclient',
    setpriv: findExecutable('setpriv', searchPath) ?? '/usr/bin/setpriv',
    script: findExecutable('true', searchPath) ?? '/bin/true',
  };
}

/** Where AppArmor lets dhclient write leases: /var/lib/dhcp/dhclient*. */
export const dhclientDirectory = '/var/lib/dhcp';

export interface DhclientFiles {
  readonly leases: string;
  /** The copy that dhclient leaves when it rewrites its leases. */
  readonly formerLeases: string;
  readonly configuration: string;
}

export function dhclientFiles(hash: string, family: Family): DhclientFiles {
  const stem = `${dhclientDirectory}/dhclient-te-${hash}-${family}`;
  return { leases: `${stem}.leases`, formerLeases: `${stem}.leases~`, configuration: `${stem}.conf` };
}

/** The hash in the name of a file of {@link dhclientFiles}. */
export function hashOfFile(name: string): string | undefined {
  return /^dhclient-te-([0-9a-f]{20})-[46]\.(?:leases~?|conf)$/.exec(name)?.[1];
}

const markOf = (instance: string): string => `task_eni_instance=${instance}`;

/**
 * Asks for no option that nobody would use. After a DISCOVER without answers dhclient rests for `retry`: its own five minutes
 * would be long for a server that is back. (In DHCPv6 the protocol sets the pace, RFC 8415 15.)
 */
export function dhclientConfiguration(instance: string, family: Family): string {
  const lines = family === 4 ? ['request subnet-mask;', 'timeout 30;', 'retry 10;'] : ['request;'];
  return [`# ${markOf(instance)}`, ...lines, ''].join('\n');
}

/** Whether the configuration is one that this instance wrote. */
export function isConfigurationOf(instance: string, text: string): boolean {
  return text.split('\n', 1)[0] === `# ${markOf(instance)}`;
}

/**
 * The command line of a client in the foreground that dies with its parent. No pid file: dhclient refuses to start when one
 * names a living process, whatever that is; a client left over is found by its command line instead. `-D LL` makes the DUID
 * from the MAC alone, so the server knows the ENI again when the lease file is gone.
 *
 * The kernel forgets the parent-death signal when AppArmor or SELinux changes the process's domain on exec; there the unit's
 * or the container's cgroup ends the clients of a dead service, or else the sweep at the next start.
 */
export function dhclientCommand(
  programs: Dhclient,
  run: { hash: string; instance: string; family: Family; interface: string },
): { command: string; args: string[] } {
  const files = dhclientFiles(run.hash, run.family);
  const family = run.family === 4 ? ['-4'] : ['-6', '-D', 'LL'];
  const paths = ['-cf', files.configuration, '-lf', files.leases, '-sf', programs.script];
  const client = [programs.dhclient, ...family, '-d', '--no-pid', '-e', markOf(run.instance), ...paths, run.interface];
  return { command: programs.setpriv, args: ['--pdeathsig', 'TERM', ...client] };
}

/** The task's hash, when these are the arguments of a dhclient that this instance started. */
export function hashOfArguments(args: readonly string[], instance: string): string | undefined {
  const valueOf = (option: string) => args[args.indexOf(option) + 1] ?? '';
  if (valueOf('-e') !== markOf(instance) || !valueOf('-lf').startsWith(`${dhclientDirectory}/`)) return undefined;
  return hashOfFile(valueOf('-lf').slice(dhclientDirectory.length + 1));
}

/** The newest lease in the text of a lease file; the last one declared wins (dhclient.leases(5)). */
export function parseLeaseFile(text: string, family: Family): Grant | undefined {
  const read = family === 4 ? readLease4 : readLease6;
  return parseStatements(text)
    .map(read)
    .findLast((grant) => grant !== undefined);
}

function readLease4({ words: [name], body }: Statement): Grant | undefined {
  if (name !== 'lease' || body === undefined) return undefined;
  const address = parseIpv4(wordsOf(body, 'fixed-address')[0] ?? '');
  const renewsAt = parseTime(wordsOf(body, 'renew'));
  const expiresAt = parseTime(wordsOf(body, 'expire'));
  if (address === undefined || renewsAt === undefined || expiresAt === undefined) return undefined;
  return { addresses: [address], renewsAt, expiresAt };
}

/** `2 2026/12/01 00:51:03` (weekday, UTC), or `epoch 1796086217` with db-time-format local, or `never`. */
function parseTime(words: readonly string[]): number | undefined {
  if (words[0] === 'never') return Number.POSITIVE_INFINITY;
  const [first, second = '', third = ''] = words;
  const time = first === 'epoch' ? Number(second) * 1000 : Date.parse(`${second.replaceAll('/', '-')}T${third}Z`);
  return Number.isFinite(time) ? time : undefined;
}

/** RFC 8415 7.7: a lifetime that does not end. */
const infinity = 0xffffffff;

function readLease6({ words: [name], body }: Statement): Grant | undefined {
  if (name !== 'lease6' || body === undefined || body.some(({ words }) => words[0] === 'released')) return undefined;
  const associations = body.filter(({ words }) => words[0] === 'ia-na').map((association) => association.body ?? []);
  const addresses = associations.flatMap((association) =>
    association.filter(({ words }) => words[0] === 'iaaddr').flatMap(readAddress6),
  );
  if (addresses.length === 0) return undefined;
  const expiresAt = Math.max(...addresses.map((address) => address.expiresAt));
  const renewals = associations.map((association) => renewal6(association) ?? expiresAt);
  return { addresses: addresses.map(({ address }) => address), renewsAt: Math.min(...renewals), expiresAt };
}

function readAddress6({ words, body = [] }: Statement): { address: Ipv4 | Ipv6; expiresAt: number }[] {
  const address = parseIpv6(words[1] ?? '');
  const starts = numberOf(body, 'starts');
  const life = numberOf(body, 'max-life');
  if (address === undefined || starts === undefined || life === undefined) return [];
  return [{ address, expiresAt: life === infinity ? Number.POSITIVE_INFINITY : (starts + life) * 1000 }];
}

/** T1 of an identity association; 0 leaves the time to the client, which takes half of the preferred lifetime. */
function renewal6(association: readonly Statement[]): number | undefined {
  const starts = numberOf(association, 'starts');
  const renew = numberOf(association, 'renew');
  if (starts === undefined || renew === undefined || renew === infinity) return undefined;
  const preferred = association.flatMap(({ body = [] }) => numberOf(body, 'preferred-life') ?? []);
  const after = renew === 0 ? Math.min(...preferred) / 2 : renew;
  return (starts + after) * 1000;
}

function wordsOf(statements: readonly Statement[], name: string): readonly string[] {
  return statements.find(({ words }) => words[0] === name)?.words.slice(1) ?? [];
}

function numberOf(statements: readonly Statement[], name: string): number | undefined {
  const word = wordsOf(statements, name)[0];
  return word !== undefined && /^\d+$/.test(word) ? Number(word) : undefined;
}
