import type { Ipv4 } from '../addresses/cidr.js';
import type { Link } from '../kernel/link-message.js';
import type { FormerLink } from '../steps/step.js';
import type { EniDevice } from '../store/record.js';
import type { Mac } from '../addresses/mac.js';
import { parseMark } from './names.js';

/** An ENI that bears this instance's mark in some task's namespace. */
export interface MarkedEni {
  readonly mac: Mac;
  readonly alias: string;
  readonly former: FormerLink;
  readonly device: EniDevice;
  readonly name: string;
}

/** What one namespace shows of one of this instance's tasks. */
export interface MarkedNamespace {
  readonly path: string;
  readonly cookie: string;
  readonly eni: MarkedEni | null;
}

/** Everything on the host that bears this instance's mark and belongs to one hash. */
export interface Traces {
  readonly hash: string;
  readonly port: { readonly name: string; readonly alias: string; readonly address: Ipv4 | undefined } | null;
  readonly namespace: MarkedNamespace | null;
  /** A sandbox that the service made. */
  readonly sandbox: OwnSandbox | null;
}

export interface OwnSandbox {
  readonly kind: 'docker' | 'netns';
  readonly name: string;
  readonly containerId: string | null;
  readonly running: boolean;
  /** The task id as Docker's label has it; a bare namespace has none. */
  readonly task: string | null;
}

/** The tasks of this instance whose links are among these, each with its ENI if that is there too. Pure. */
export function marksOf(links: readonly Link[], instance: string): Map<string, MarkedEni | null> {
  const found = new Map<string, MarkedEni | null>();
  for (const link of links) {
    const mark = parseMark(link.alias);
    if (mark === undefined || mark.instance !== instance) continue;
    const { hash, former } = mark;
    if (former !== undefined && link.mac !== undefined) found.set(hash, markedEni(link, link.mac, former));
    else if (!found.has(hash)) found.set(hash, null);
  }
  return found;
}

function markedEni(link: Link, mac: Mac, former: FormerLink): MarkedEni {
  const { index, kind, peerIndex, permanentMac, alias, name } = link;
  const device = { index, kind: kind ?? null, peerIndex: peerIndex ?? null, permanentMac: permanentMac ?? null };
  return { mac: permanentMac ?? mac, alias, former, device, name };
}

export interface Liveliness {
  /** Links in the namespace that are neither loopback nor the link-local end. */
  readonly otherLinks: number;
  /** Processes in it other than our pause. */
  readonly processes: number;
  /** Running containers that joined our pause container. */
  readonly joined: number;
}

/** What nobody knows is removed only when nothing lives in it. Pure. */
export function isStray({ otherLinks, processes, joined }: Liveliness): boolean {
  return otherLinks === 0 && processes === 0 && joined === 0;
}
