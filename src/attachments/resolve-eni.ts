import type { Mac } from '../addresses/mac.js';
import { TaskEniError } from '../errors.js';
import { families } from '../kernel/address-message.js';
import { type Link, linkFlags } from '../kernel/link-message.js';
import { type EniReading, readEni } from '../metadata/read-eni.js';
import type { FormerLink } from '../steps/step.js';
import { holds, refuseEniInUse } from './conflicts.js';
import { refuseGateways } from './gateways.js';
import type { Host } from './host.js';
import { primaryLinks } from './primary-links.js';
import { timedWait, withEvent } from './record-changes.js';
import type { AttachRequest } from './request.js';

export interface Resolved {
  readonly eni: EniReading;
  readonly link: FormerLink;
}

interface FoundLink {
  /** Null: in the task already, as an orphan's is. */
  readonly index: number | null;
  readonly link: FormerLink;
}

/**
 * Waits for the link and for what instance metadata has to say of it, side by side, up to TASK_ENI_ENI_WAIT_SECONDS.
 * Changes nothing. Throws eni-timeout, metadata-timeout, unusable-eni, eni-in-use, primary-eni, or the signal's reason.
 */
export async function resolveEni(
  host: Host,
  hash: string,
  request: AttachRequest,
  signal: AbortSignal,
): Promise<Resolved> {
  const deadline = performance.now() + host.settings.eniWaitSeconds * 1000;
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const report: Parameters<typeof timedWait>[1] = (event) => {
    host.records.patch(hash, { outcomes: withEvent(host.records.of(hash).outcomes, event) });
    if (event.state === 'done' || event.state === 'failed')
      host.metrics.stepEnded(event.kind, event.state, event.durationMs / 1000);
  };
  const wait = { deadline, signal: either };
  const usableMac = findMac(host, hash, request, wait);
  const source = { metadata: host.metadata, ids: host.eniIds, settleSeconds: host.settings.metadataSettleSeconds };
  const reading = timedWait('read-metadata', report, async () => {
    const eni = await readEni({ ...request.eni, mac: await usableMac }, source, wait);
    refuseGateways(eni);
    return eni;
  });
  const looking = timedWait('wait-for-eni', report, async () => findLink(host, hash, await usableMac, wait));
  try {
    const [eni, found] = await Promise.all([reading, looking]);
    // Metadata may have been silent when the wait began.
    if (eni.mac === host.identity.known.primaryMac) throw primary(eni.mac);
    return { eni, link: await lookAgain(host, found) };
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled([reading, looking]);
    throw error;
  }
}

async function findMac(
  host: Host,
  hash: string,
  request: AttachRequest,
  wait: { deadline: number; signal: AbortSignal },
): Promise<Mac> {
  const { id, mac: given } = request.eni;
  const mac = given ?? (await host.eniIds.resolveMac(id ?? '', wait));
  if (mac === host.identity.known.primaryMac) throw primary(mac);
  const others = host.records.all().filter((record) => record.hash !== hash && holds(record));
  refuseEniInUse(others, { id, mac });
  host.orphans.refuseEni(mac, hash);
  return mac;
}

async function findLink(
  host: Host,
  hash: string,
  mac: Mac,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<FoundLink> {
  const orphan = host.orphans.formerLink(hash, mac);
  if (orphan !== undefined) return { index: null, link: orphan };
  const link = await host.links.waitFor(mac, deadline, signal);
  if (host.identity.known.primaryMac === null && (await isPrimary(host, link))) throw primary(mac);
  return { index: link.index, link: formerLink(link) };
}

/** Metadata may have taken minutes, and the host may have renamed the link meanwhile, or set its MTU. */
async function lookAgain({ hostNetlink }: Host, { index, link }: FoundLink): Promise<FormerLink> {
  const now = index === null ? undefined : await hostNetlink.linkByIndex(index);
  return now === undefined ? link : formerLink(now);
}

export function formerLink({ name, mtu, txQueueLength, flags }: Link): FormerLink {
  const kept = linkFlags.noArp | linkFlags.promiscuous | linkFlags.allMulticast;
  return { name, mtu, txQueueLength, flags: flags & kept };
}

/** Without metadata, the host's own interface is known by the routes that it gives. */
async function isPrimary({ hostNetlink }: Host, link: Link): Promise<boolean> {
  const routes = [...(await hostNetlink.routes(families.ipv4)), ...(await hostNetlink.routes(families.ipv6))];
  return primaryLinks(routes).has(link.index);
}

function primary(mac: Mac): TaskEniError {
  return new TaskEniError('primary-eni', `${mac} is the interface that the host itself lives by`);
}
