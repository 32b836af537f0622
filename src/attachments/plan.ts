import { firstUsable, type Ipv4, type Ipv4Cidr, type Ipv6, type Ipv6Cidr } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import type { Settings } from '../settings.js';
import type { FormerLink, SandboxPlan, Step, StepKind } from '../steps/step.js';
import { eniAlias, linkAlias, linkLocalMac, portName, sandboxName } from './names.js';
import type { AttachRequest, CredentialsIdentity, CredentialsRequest } from './request.js';

/** The ENI as the request and instance metadata together describe it. */
export interface ResolvedEni {
  readonly id: string | null;
  readonly mac: Mac;
  readonly ipv4: Ipv4Cidr | null;
  readonly ipv4Gateway: Ipv4 | null;
  readonly ipv6: Ipv6Cidr | null;
  readonly ipv6Gateway: Ipv6 | null;
}

export interface PlanInput {
  readonly hash: string;
  readonly request: AttachRequest;
  readonly eni: ResolvedEni;
  /** The link as it is in the host's namespace now. */
  readonly link: FormerLink;
  readonly address: Ipv4;
  readonly sandboxKind: 'docker' | 'netns';
  readonly credentialsId: string;
  readonly settings: Pick<Settings, 'instance' | 'interface' | 'pauseImage' | 'dhcpClient'>;
}

/** The name of a task's end of the veth pair to the bridge, as ECS has it. */
export const linkLocalInterface = 'ecs-eth0';

/** Everything that an attach does to the host, in order, with every name and value chosen. Pure. */
export function planAttach(input: PlanInput): Step[] {
  const { hash, request, eni, link, address, settings } = input;
  const { instance } = settings;
  const gateway = eni.ipv4Gateway ?? (eni.ipv4 === null ? null : firstUsable(eni.ipv4));
  const steps: Step[] = [
    { kind: 'reserve-address', address },
    { kind: 'prepare-sandbox', sandbox: planSandbox(input) },
    { kind: 'clear-host-config', mac: eni.mac },
    {
      kind: 'connect-bridge',
      port: portName(hash),
      alias: linkAlias(instance, hash),
      interface: linkLocalInterface,
      address,
      mac: linkLocalMac(address),
    },
    { kind: 'move-eni', mac: eni.mac, alias: eniAlias(instance, hash, link), former: link },
    {
      kind: 'configure-eni',
      mac: eni.mac,
      interface: settings.interface,
      ipv4: eni.ipv4,
      ipv4Gateway: gateway,
      ipv6: eni.ipv6,
      ipv6Gateway: eni.ipv6Gateway,
      mtu: request.eni.mtu ?? link.mtu,
      blockInstanceMetadata: request.blockInstanceMetadata,
    },
  ];
  const credentials = credentialsIdentity(request.credentials);
  if (credentials !== null) steps.push({ kind: 'register-credentials', id: input.credentialsId, address, credentials });
  if (request.dhcp && settings.dhcpClient !== 'off')
    steps.push({
      kind: 'start-dhcp',
      interface: settings.interface,
      ipv4: eni.ipv4?.address ?? null,
      ipv6: eni.ipv6?.address ?? null,
    });
  return steps;
}

/** The step of that kind, if the plan has one. */
export function stepOf<K extends StepKind>(plan: readonly Step[], kind: K): Extract<Step, { kind: K }> | undefined {
  return plan.find((step): step is Extract<Step, { kind: K }> => step.kind === kind);
}

function planSandbox({ hash, request, eni, sandboxKind, settings }: PlanInput): SandboxPlan {
  const asked = request.sandbox;
  if (asked === null) {
    const name = sandboxName(settings.instance, hash);
    const dns = request.dns;
    const hosts = hostsEntries(eni, dns?.hostname ?? null);
    return sandboxKind === 'docker'
      ? { kind: 'docker', owned: true, name, image: settings.pauseImage, dns, hosts }
      : { kind: 'netns', owned: true, name, dns, hosts };
  }
  switch (asked.kind) {
    case 'container':
      return { kind: 'docker', owned: false, containerId: asked.containerId };
    case 'pid':
      return { kind: 'pid', owned: false, pid: asked.pid };
    case 'netns':
      return { kind: 'netns', owned: false, path: asked.path };
  }
}

/** `hostname:address` for the sandbox's hosts file, as Docker's ExtraHosts takes them: IPv4, else IPv6. */
function hostsEntries(eni: ResolvedEni, hostname: string | null): string[] {
  const address = eni.ipv4?.address ?? eni.ipv6?.address;
  return hostname === null || address === undefined ? [] : [`${hostname}:${address}`];
}

/** What of the credentials may be stored, compared and shown. */
export function credentialsIdentity(credentials: CredentialsRequest | null): CredentialsIdentity | null {
  if (credentials === null || credentials.source === 'assume-role') return credentials;
  return { source: 'pushed', roleArn: credentials.roleArn };
}
