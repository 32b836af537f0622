import type { SandboxPlan, Step } from '../steps/step.js';
import type { AttachmentRecord, SandboxRecord } from '../store/record.js';
import type { Traces } from './marks.js';
import { linkAlias, linkLocalMac, portName } from './names.js';
import { linkLocalInterface } from './plan.js';
import { pendingRecord } from './record-changes.js';
import type { AttachRequest } from './request.js';
import type { TaskId } from './task-id.js';

export interface OrphanIdentity {
  readonly taskId: TaskId;
  readonly instance: string;
  readonly interface: string;
  readonly bootId: string;
}

/** What a lost record must have said, as far as the host's traces tell: enough to undo it by the same steps as any other. Pure. */
export function orphanRecord(traces: Traces, identity: OrphanIdentity): AttachmentRecord {
  const { taskId, instance, bootId } = identity;
  const { hash, namespace, port, sandbox } = traces;
  const eni = namespace?.eni ?? null;
  const request: AttachRequest = {
    eni: { id: null, mac: eni?.mac ?? null, ipv4: null, ipv4Gateway: null, ipv6: null, ipv6Gateway: null, mtu: null },
    sandbox: null,
    blockInstanceMetadata: true,
    dns: null,
    dhcp: false,
    labels: {},
    credentials: null,
  };
  const base = pendingRecord({ taskId, hash, bootId, instanceId: null, region: null, request, now: Date.now() });
  const address = port?.address;
  return {
    ...base,
    state: 'READY',
    plan: planOf(traces, instance),
    sandbox: sandboxOf(traces),
    eni: eni && {
      ...request.eni,
      mac: eni.mac,
      interface: identity.interface,
      hostInterface: eni.former.name,
      device: eni.device,
    },
    linkLocal: address === undefined ? null : { port: portName(hash), interface: linkLocalInterface, address },
    warnings: [`the record of this task was lost${sandbox === null ? '' : ` (${sandbox.name})`}`],
  };
}

function planOf({ hash, port, namespace, sandbox }: Traces, instance: string): Step[] {
  const address = port?.address;
  const steps: Step[] = [];
  if (address !== undefined) steps.push({ kind: 'reserve-address', address });
  const plan = sandboxPlan(sandbox, namespace?.path);
  if (plan !== null) steps.push({ kind: 'prepare-sandbox', sandbox: plan });
  if (address !== undefined)
    steps.push({
      kind: 'connect-bridge',
      port: portName(hash),
      alias: linkAlias(instance, hash),
      interface: linkLocalInterface,
      address,
      mac: linkLocalMac(address),
    });
  const eni = namespace?.eni;
  if (eni) {
    steps.push({ kind: 'move-eni', mac: eni.mac, alias: eni.alias, former: eni.former });
    steps.push({
      kind: 'configure-eni',
      mac: eni.mac,
      interface: eni.name,
      ipv4: null,
      ipv4Gateway: null,
      ipv6: null,
      ipv6Gateway: null,
      mtu: eni.former.mtu,
      blockInstanceMetadata: true,
    });
  }
  return steps;
}

function sandboxPlan(sandbox: Traces['sandbox'], path: string | undefined): SandboxPlan | null {
  if (sandbox?.kind === 'docker')
    return { kind: 'docker', owned: true, name: sandbox.name, image: '', dns: null, hosts: [] };
  if (sandbox?.kind === 'netns') return { kind: 'netns', owned: true, name: sandbox.name, dns: null, hosts: [] };
  return path === undefined ? null : { kind: 'netns', owned: false, path };
}

function sandboxOf({ namespace, sandbox }: Traces): SandboxRecord | null {
  if (namespace === null) return null;
  return {
    kind: sandbox?.kind ?? 'netns',
    owned: sandbox !== null,
    containerId: sandbox?.containerId ?? null,
    pid: null,
    netns: namespace.path,
    cookie: namespace.cookie,
  };
}
