/** Makes the two namespaces that every lab has, in one shell, since each process costs more than the kernel's work. */
import { run } from './command.js';
import { HostNamespace, labVariable } from './host-namespace.js';
import * as plan from './vpc.js';

export interface Foundation {
  readonly host: HostNamespace;
  readonly vpc: HostNamespace;
}

/** A command that runs shell lines and then `ip` lines inside a namespace. */
function inside(path: string, sysctls: readonly [string, string][], ipLines: readonly string[]): string {
  return [
    `nsenter --net=${path} -- sh -e <<'INSIDE'`,
    plan.sysctlScript(sysctls),
    "ip -batch - <<'LINES'",
    ...ipLines,
    'LINES',
    'INSIDE',
  ].join('\n');
}

async function shell(id: string, script: readonly string[]): Promise<void> {
  await run('sh', ['-e'], {
    input: script.join('\n') + '\n',
    env: { ...process.env, [labVariable]: id },
  });
}

/** The host with its primary interface eth0, and the VPC with switch and router. */
export async function lay(id: string, primaryMac: string, ipv6: boolean): Promise<Foundation> {
  const host = new HostNamespace(`${id}-host`, id);
  const vpc = new HostNamespace(`${id}-vpc`, id);
  const primary = { netns: host.name, name: 'eth0', mac: primaryMac, mtu: plan.vpc.mtu };
  const hostLines = [
    ...plan.memberLines('eth0', plan.vpc.primary, ipv6 ? plan.vpc.ipv6Primary : null),
    ...plan.metadataAddressLines(ipv6),
  ];
  // The route to metadata by way of the host needs the host's interface up; it comes last.
  await shell(id, [
    `ip netns add ${host.name}`,
    `ip netns add ${vpc.name}`,
    inside(host.path, plan.namespaceSysctls(ipv6), []),
    inside(vpc.path, plan.routerSysctls(ipv6), [...plan.switchLines(ipv6), ...plan.wireLines('w0', primary)]),
    inside(host.path, plan.memberSysctls, hostLines),
  ]);
  return { host, vpc };
}

/** A further namespace, with lo up; a member of the subnet when a wire to it is given. */
export async function layNamespace(
  id: string,
  name: string,
  ipv6: boolean,
  member?: { vpc: HostNamespace; wire: string; mac: string; ipv4: string; ipv6: string | null },
): Promise<HostNamespace> {
  const namespace = new HostNamespace(`${id}-${name}`, id);
  const far = { netns: namespace.name, name: 'eth0', mac: member?.mac ?? '', mtu: plan.vpc.mtu };
  await shell(id, [
    `ip netns add ${namespace.name}`,
    inside(namespace.path, plan.namespaceSysctls(ipv6), ['link set lo up']),
    ...(member === undefined
      ? []
      : [
          inside(member.vpc.path, [], plan.wireLines(member.wire, far)),
          inside(namespace.path, plan.memberSysctls, plan.memberLines('eth0', member.ipv4, member.ipv6)),
        ]),
  ]);
  return namespace;
}
