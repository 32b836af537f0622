import type { Mac } from '../addresses/mac.js';
import type { ResolvedEni } from '../attachments/plan.js';
import type { EniRequest } from '../attachments/request.js';
import { TaskEniError } from '../errors.js';
import { monotonicClock } from './clock.js';
import type { EniIds } from './eni-ids.js';
import { type EniKey, type EniKeys, type Families, eniKeys, judge, parseEniId, readIpv4, readIpv6 } from './eni.js';
import type { InstanceMetadata } from './instance-metadata.js';
import { type Wait, lookUntil, metadataTimeout } from './look-until.js';

/** An ENI as the request and instance metadata together describe it. */
export interface EniReading extends ResolvedEni {
  readonly warnings: readonly string[];
}

export type EniWithMac = EniRequest & { readonly mac: Mac };

export interface EniSource {
  readonly metadata: Pick<InstanceMetadata, 'get'>;
  readonly ids: EniIds;
  /** How long the second address family is waited for once the first is complete. */
  readonly settleSeconds: number;
}

/**
 * Completes the request from instance metadata, which may come late and in pieces. What the request says wins and is not
 * read; one that says enough costs no read at all, else the first look costs at most five. Gateways are not in metadata.
 * Throws metadata-timeout naming the missing keys, and unusable-eni.
 */
export async function readEni(request: EniWithMac, source: EniSource, wait: Wait): Promise<EniReading> {
  if (saysEnough(request)) return reading(request, { id: request.id, ipv4: request.ipv4, ipv6: request.ipv6 }, []);
  const clock = wait.clock ?? monotonicClock;
  const keys: Partial<Record<EniKey, string>> = {};
  let oneSince: number | undefined;
  let failures: readonly unknown[] = [];

  const judgeNow = (settled: boolean) => {
    refuseOtherEni(request, keys['interface-id']);
    const families = familiesOf(request, keys);
    if (families.ipv4.state === 'complete' || families.ipv6.state === 'complete') oneSince ??= clock.now();
    const waited = oneSince === undefined ? 0 : clock.now() - oneSince;
    return judge(families, {
      certain: failures.length === 0 && Object.keys(keys).length > 0,
      settled: settled || waited >= source.settleSeconds * 1000,
    });
  };

  const judgement = await lookUntil(
    async (signal) => {
      failures = await readMissing(request, source, keys, signal);
      const judged = judgeNow(false);
      if (judged.kind === 'complete') return judged;
      // What was there but made no sense is read again as well.
      for (const key of judged.missing) delete keys[key];
      if (failures.length > 0) throw failures[0];
      return undefined;
    },
    wait,
    (lastError) => {
      const judged = judgeNow(true);
      if (judged.kind === 'complete') return judged;
      throw metadataTimeout(`instance metadata of ${request.mac} lacks ${judged.missing.join(', ')}`, lastError);
    },
  );
  const id = request.id ?? keys['interface-id'] ?? null;
  return reading(request, { ...judgement, id }, judgement.warnings);
}

/** An agent that knows an address with its gateway, or both addresses, has described the ENI. */
function saysEnough({ ipv4, ipv4Gateway, ipv6, ipv6Gateway }: EniRequest): boolean {
  if (ipv4 !== null && ipv6 !== null) return true;
  return (ipv4 !== null && ipv4Gateway !== null) || (ipv6 !== null && ipv6Gateway !== null);
}

function reading(
  { mac, ipv4Gateway, ipv6Gateway }: EniWithMac,
  { id, ipv4, ipv6 }: Pick<ResolvedEni, 'id' | 'ipv4' | 'ipv6'>,
  warnings: readonly string[],
): EniReading {
  return { id, mac, ipv4, ipv4Gateway, ipv6, ipv6Gateway, warnings };
}

function familiesOf(request: EniRequest, keys: EniKeys): Families {
  return {
    ipv4: request.ipv4 === null ? readIpv4(keys) : { state: 'complete', cidr: request.ipv4, unused: [] },
    ipv6: request.ipv6 === null ? readIpv6(keys) : { state: 'complete', cidr: request.ipv6, unused: [] },
  };
}

function refuseOtherEni({ id, mac }: EniWithMac, found: string | undefined): void {
  if (id !== null && found !== undefined && id !== found)
    throw new TaskEniError('unusable-eni', `${mac} is the MAC of ${found}, not of ${id}`);
}

/** Reads, side by side, the keys that are wanted and not known yet. Returns what failed, if anything did. */
async function readMissing(
  request: EniWithMac,
  { metadata, ids }: EniSource,
  keys: Partial<Record<EniKey, string>>,
  signal: AbortSignal,
): Promise<unknown[]> {
  const known: Record<EniKey, boolean> = {
    'interface-id': false,
    'local-ipv4s': request.ipv4 !== null,
    'subnet-ipv4-cidr-block': request.ipv4 !== null,
    ipv6s: request.ipv6 !== null,
    'subnet-ipv6-cidr-blocks': request.ipv6 !== null,
  };
  const wanted = eniKeys.filter((key) => !known[key] && keys[key] === undefined);
  const outcomes = await Promise.allSettled(
    wanted.map(async (key) => {
      const text = await metadata.get(`network/interfaces/macs/${request.mac}/${key}`, signal);
      const value = key === 'interface-id' ? parseEniId(text) : text;
      if (value === undefined) return;
      keys[key] = value;
      if (key === 'interface-id') ids.note(request.mac, value);
    }),
  );
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
}
