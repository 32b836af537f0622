import type { Mac } from '../addresses/mac.js';

/** A link of the host's namespace, as far as counting ENIs needs it. */
export interface HostLink {
  readonly mac: Mac | undefined;
  /** The address that the hardware came with, where the driver tells it. */
  readonly permanentMac?: Mac | undefined;
  /** IFLA_INFO_KIND, e.g. `veth`; hardware has none. */
  readonly kind?: string | undefined;
}

/** The three views of which ENIs the host has; null is a view that cannot be had. */
export interface EniViews {
  /** Listed by instance metadata. */
  readonly listed: readonly Mac[] | null;
  readonly links: readonly HostLink[] | null;
  /** Of the tasks' ENIs, which no listing of the host's links shows. */
  readonly tasks: readonly Mac[];
}

const noAddress = '00:00:00:00:00:00';

function macOf(link: HostLink): Mac | undefined {
  const mac = link.permanentMac ?? link.mac;
  return mac === noAddress ? undefined : mac;
}

/**
 * Listed MACs that no link and no task bears: an ENI that stands in a namespace of somebody else's, or one that was
 * detached a moment ago and is still listed. Only asking metadata about it can tell.
 */
export function doubtfulMacs({ listed, links, tasks }: EniViews): Mac[] {
  const seen = new Set<Mac | undefined>([...(links ?? []).map(macOf), ...tasks]);
  return (listed ?? []).filter((mac) => !seen.has(mac));
}

/**
 * How many ENIs the host has: those that metadata lists and that exist, those of the tasks, and hardware links that
 * metadata does not list yet. Null when neither metadata nor the kernel could be asked.
 */
export function countAttached(views: EniViews, gone: readonly Mac[]): number | null {
  const { listed, links, tasks } = views;
  if (listed === null && links === null) return null;
  const hardware = (links ?? []).filter(({ kind }) => kind === undefined).flatMap((link) => macOf(link) ?? []);
  const macs = new Set([...(listed ?? []), ...tasks, ...hardware]);
  for (const mac of gone) macs.delete(mac);
  return macs.size;
}

/** Slots left; null when either number is unknown, never negative (the setting may be lower than what is attached). */
export function countAvailable(limit: number | null, attached: number | null): number | null {
  return limit === null || attached === null ? null : Math.max(0, limit - attached);
}
