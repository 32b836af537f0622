import type { Logger } from 'pino';
import type { Mac } from '../addresses/mac.js';
import { describeError } from '../errors.js';
import { parseMacListing } from '../metadata/eni.js';
import type { InstanceMetadata } from '../metadata/instance-metadata.js';
import type { EniLimit, LimitSource } from './eni-limit.js';
import { type EniViews, type HostLink, countAttached, countAvailable, doubtfulMacs } from './slots.js';

/** How many ENIs the host may have, has, and has room for; null is what is not known. */
export interface EniSlots {
  readonly limit: number | null;
  readonly limitSource: LimitSource | null;
  /** Why the limit is not known; null when it is. */
  readonly limitCause: string | null;
  /** All of the host's ENIs: the primary one, foreign ones, and those in tasks. */
  readonly attached: number | null;
  readonly tasks: number;
  readonly available: number | null;
}

export interface CapacityParts {
  readonly limit: Pick<EniLimit, 'current'>;
  readonly metadata: Pick<InstanceMetadata, 'get'>;
  /** The links in the host's own namespace. */
  readonly links: () => Promise<readonly HostLink[]>;
  /** The MACs of the ENIs that tasks have. */
  readonly tasks: () => readonly Mac[];
  readonly logger: Logger;
  /** Milliseconds that never jump. */
  readonly now?: () => number;
}

/** Milliseconds that somebody who looks is kept waiting for instance metadata. */
const patience = 1500;
/** Milliseconds for which a count is good; a scrape and a page ask more often than links come and go. */
const freshFor = 2000;

/** Counts the host's ENI slots when somebody asks, so that an idle service costs nobody anything. */
export class Capacity {
  private counted: { readonly at: number; readonly attached: Promise<number | null> } | undefined;
  private readonly failing = new Set<string>();

  constructor(private readonly parts: CapacityParts) {}

  /** At most two seconds old. Never rejects: what cannot be had is null. */
  async read(): Promise<EniSlots> {
    const attached = await this.attached();
    const { limit, source, cause } = this.parts.limit.current();
    return {
      limit,
      limitSource: source,
      limitCause: cause,
      attached,
      tasks: this.parts.tasks().length,
      available: countAvailable(limit, attached),
    };
  }

  private attached(): Promise<number | null> {
    const now = (this.parts.now ?? (() => performance.now()))();
    if (this.counted === undefined || now - this.counted.at >= freshFor)
      this.counted = { at: now, attached: this.count() };
    return this.counted.attached;
  }

  private async count(): Promise<number | null> {
    const { metadata } = this.parts;
    const signal = AbortSignal.timeout(patience);
    const [listed, links] = await Promise.all([
      this.orNull('instance metadata', async () =>
        parseMacListing(await metadata.get('network/interfaces/macs/', signal)),
      ),
      this.orNull('the kernel', () => this.parts.links()),
    ]);
    const views: EniViews = { listed, links, tasks: this.parts.tasks() };
    const doubtful = doubtfulMacs(views);
    const exist = await Promise.all(doubtful.map((mac) => this.exists(mac, signal)));
    return countAttached(
      views,
      doubtful.filter((_, index) => exist[index] === false),
    );
  }

  /** A MAC that is listed and answers for nothing is that of an ENI which is gone. Not knowing is no proof of that. */
  private async exists(mac: Mac, signal: AbortSignal): Promise<boolean> {
    const id = await this.orNull('instance metadata', async () => {
      return (await this.parts.metadata.get(`network/interfaces/macs/${mac}/interface-id`, signal)) ?? '';
    });
    return id !== '';
  }

  /** A view that fails is done without; that is said once, and again when it fails anew. */
  private async orNull<T>(view: string, look: () => Promise<T>): Promise<T | null> {
    try {
      const value = await look();
      this.failing.delete(view);
      return value;
    } catch (error) {
      if (!this.failing.has(view))
        this.parts.logger.warn({ reason: describeError(error) }, `ENIs are counted without ${view}`);
      this.failing.add(view);
      return null;
    }
  }
}
