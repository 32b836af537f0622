import { readFileSync } from 'node:fs';
import { type Finding, fail, ok, warn } from './finding.js';

interface Capability {
  readonly name: string;
  /** Its number in linux/capability.h. */
  readonly bit: number;
  readonly use: string;
}

const needed: readonly Capability[] = [
  { name: 'CAP_NET_ADMIN', bit: 12, use: 'links, addresses and routes' },
  { name: 'CAP_SYS_ADMIN', bit: 21, use: 'network namespaces and their pins' },
  { name: 'CAP_SETGID', bit: 6, use: 'the credentials process, which drops its groups' },
  { name: 'CAP_SETUID', bit: 7, use: 'the credentials process, which becomes nobody' },
  { name: 'CAP_KILL', bit: 5, use: 'ending the credentials process and DHCP clients' },
];
const useful: readonly Capability[] = [
  { name: 'CAP_SYS_PTRACE', bit: 19, use: "namespaces of other users' processes, and the pins' reach" },
  { name: 'CAP_NET_RAW', bit: 13, use: 'dhclient' },
  { name: 'CAP_NET_BIND_SERVICE', bit: 10, use: 'dhclient, which listens on port 68' },
];

/** Capabilities of this process that are in force (capabilities(7); the line CapEff of /proc/self/status is hexadecimal). */
export function checkPrivileges(): Finding {
  const status = readFileSync('/proc/self/status', 'utf8');
  return judgePrivileges(process.getuid?.() ?? 0, status);
}

export function judgePrivileges(uid: number, processStatus: string): Finding {
  const name = 'privileges';
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(processStatus)?.[1] ?? '0'}`);
  const lacking = (list: readonly Capability[]) => list.filter(({ bit }) => ((effective >> BigInt(bit)) & 1n) === 0n);
  const missing = lacking(needed);
  if (uid !== 0) return fail(name, `this is uid ${uid}`, "Run as root: state and sockets are root's own.");
  if (missing.length > 0)
    return fail(name, `root without ${listText(missing)}`, 'Add these capabilities to the container or unit.');
  const useless = lacking(useful);
  if (useless.length > 0)
    return warn(name, `root without ${listText(useless)}`, 'Add these capabilities if that is used.');
  return ok(name, 'root with every capability that is used');
}

function listText(capabilities: readonly Capability[]): string {
  return capabilities.map(({ name, use }) => `${name} (${use})`).join(', ');
}
