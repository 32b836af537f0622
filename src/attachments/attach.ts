import { randomUUID } from 'node:crypto';
import type { Ipv4 } from '../addresses/cidr.js';
import { type ErrorCode, TaskEniError, describeError } from '../errors.js';
import type { Namespace } from '../kernel/namespaces.js';
import { asTaskError, runPlan } from '../steps/run-plan.js';
import type { EniReading } from '../metadata/read-eni.js';
import type { FormerLink } from '../steps/step.js';
import type { AttachmentRecord } from '../store/record.js';
import { type Host, openContext } from './host.js';
import { borrow } from './borrow.js';
import { holds, refuseEniInUse } from './conflicts.js';
import { credentialsIdentity, linkLocalInterface, planAttach } from './plan.js';
import { portName } from './names.js';
import { withEvent, withPlan } from './record-changes.js';
import { resolveEni } from './resolve-eni.js';
import type { AttachRequest } from './request.js';
import { endedRecord } from './task-records.js';
import { undo } from './undo.js';

/**
 * From PENDING to READY. On failure all is undone first; then the record says FAILED and the first error is thrown.
 * Aborting `signal` cuts the waiting short, or stops the plan between two steps.
 */
export async function attach(
  host: Host,
  hash: string,
  request: AttachRequest,
  signal: AbortSignal,
): Promise<AttachmentRecord> {
  const started = performance.now();
  const ended = (code: ErrorCode | null) => host.metrics.attachEnded(code, (performance.now() - started) / 1000);
  try {
    const ready = await carryOut(host, hash, request, signal);
    ended(null);
    host.logger.info({ taskId: ready.taskId, mac: ready.eni?.mac, attachMs: Date.now() - ready.createdAt }, 'attached');
    return ready;
  } catch (error) {
    const failure = asTaskError(signal.aborted ? signal.reason : error);
    const undoPending = await undo(host, hash);
    const { taskId } = host.records.of(hash);
    const recorded = { code: failure.code, detail: failure.detail, step: failure.step ?? null };
    await host.records
      .commit(endedRecord(host.records.of(hash), 'FAILED', recorded, undoPending))
      .catch((reason: unknown) => host.logger.error({ taskId, reason: describeError(reason) }, 'not recorded'));
    ended(failure.code);
    host.logger.warn({ taskId, code: failure.code, step: failure.step, err: failure }, 'attach failed');
    throw failure.at({ taskId });
  }
}

async function carryOut(
  host: Host,
  hash: string,
  request: AttachRequest,
  signal: AbortSignal,
): Promise<AttachmentRecord> {
  // Named by the caller, so looked at before anything is waited for; held open so that it stays the same one.
  const borrowed = request.sandbox === null ? null : await borrow(host, hash, request.sandbox);
  try {
    const { eni, link } = await resolveEni(host, hash, request, signal);
    const record = await begin(host, hash, request, eni, link);
    return await execute(host, record, request, borrowed, signal);
  } finally {
    borrowed?.close();
  }
}

/** Makes the plan and keeps it, before the first change to the host. */
async function begin(
  host: Host,
  hash: string,
  request: AttachRequest,
  { warnings, ...eni }: EniReading,
  link: FormerLink,
): Promise<AttachmentRecord> {
  // Once more: one request may have named by its id what another names by its MAC, and both have waited since.
  refuseEniInUse(
    host.records.all().filter((other) => other.hash !== hash && holds(other)),
    eni,
  );
  host.orphans.refuseEni(eni.mac, hash);
  host.orphans.refuseOther(hash, eni.mac, request.sandbox && (host.records.of(hash).sandbox?.cookie ?? null));
  const address = reserve(host, hash);
  const credentialsId = randomUUID();
  const { settings, sandboxKind } = host;
  const plan = planAttach({ hash, request, eni, link, address, sandboxKind, credentialsId, settings });
  const configured = plan.find((step) => step.kind === 'configure-eni');
  const pending = host.records.of(hash);
  const record: AttachmentRecord = {
    ...pending,
    state: 'ATTACHING',
    eni: {
      ...eni,
      interface: settings.interface,
      hostInterface: link.name,
      device: null,
      ipv4Gateway: configured?.ipv4Gateway ?? null,
      mtu: configured?.mtu ?? null,
    },
    linkLocal: { port: portName(hash), interface: linkLocalInterface, address },
    credentials: credentialsIdentity(request.credentials),
    credentialsId: request.credentials === null ? null : credentialsId,
    plan,
    outcomes: withPlan(pending.outcomes, plan),
    warnings,
  };
  await host.records.commit(record);
  return record;
}

function reserve(host: Host, hash: string): Ipv4 {
  const address = host.orphans.addressOf(hash) ?? host.pool.reserve(hash);
  if (address !== undefined) return address;
  const { capacity } = host.pool;
  throw new TaskEniError('address-pool-exhausted', `all ${capacity} link-local addresses are in use`);
}

async function execute(
  host: Host,
  record: AttachmentRecord,
  request: AttachRequest,
  namespace: Namespace | null,
  signal: AbortSignal,
): Promise<AttachmentRecord> {
  const { hash, plan } = record;
  const context = openContext(host, hash, request.credentials, signal);
  if (namespace !== null) context.hold(namespace);
  try {
    await runPlan(plan, host.handlers, context, {
      proceed: () => signal.throwIfAborted(),
      report: (event) => {
        host.records.patch(hash, { outcomes: withEvent(host.records.of(hash).outcomes, event) });
        if (event.state === 'done' || event.state === 'failed')
          host.metrics.stepEnded(event.kind, event.state, event.durationMs / 1000);
      },
    });
  } finally {
    context.release();
  }
  const ready: AttachmentRecord = { ...host.records.of(hash), state: 'READY', readyAt: Date.now() };
  await host.records.commit(ready);
  host.orphans.settle(hash);
  return ready;
}
