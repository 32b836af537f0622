import type { Mac } from '../addresses/mac.js';
import { parseEniId, parseMacListing } from './eni.js';
import type { InstanceMetadata } from './instance-metadata.js';
import { type Wait, lookUntil, metadataTimeout } from './look-until.js';
import { unlessAborted } from './unless-aborted.js';

/**
 * Which ENI has which MAC. An ENI keeps its MAC for life, so what was read once is not read again; entries go when
 * their MAC is no longer listed, since then the MAC may one day be that of another ENI.
 */
export class EniIds {
  private readonly ids = new Map<Mac, string>();
  private looking: Promise<void> | undefined;

  constructor(private readonly metadata: Pick<InstanceMetadata, 'get'>) {}

  /** What was learnt in passing; it may spare a later search. */
  note(mac: Mac, id: string): void {
    this.ids.set(mac, id);
  }

  /** The MAC of the ENI, waited for until the deadline. Throws metadata-timeout. */
  async resolveMac(id: string, wait: Wait): Promise<Mac> {
    return lookUntil(
      async (signal) => {
        if (this.macOf(id) === undefined) await unlessAborted(this.look(), signal);
        return this.macOf(id);
      },
      wait,
      (lastError) => {
        throw metadataTimeout(`instance metadata lists no ENI with the id ${id}`, lastError);
      },
    );
  }

  private macOf(id: string): Mac | undefined {
    for (const [mac, known] of this.ids) if (known === id) return mac;
    return undefined;
  }

  /** One look however many wait, so that each MAC not seen before is asked about once. */
  private look(): Promise<void> {
    this.looking ??= this.readIds().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  private async readIds(): Promise<void> {
    const listed = parseMacListing(await this.metadata.get('network/interfaces/macs/'));
    for (const mac of this.ids.keys()) if (!listed.includes(mac)) this.ids.delete(mac);
    const unseen = listed.filter((mac) => !this.ids.has(mac));
    await Promise.all(
      unseen.map(async (mac) => {
        // The MAC of an ENI detached a moment ago is still listed and answers 404: no reason to fail.
        const id = parseEniId(await this.metadata.get(`network/interfaces/macs/${mac}/interface-id`));
        if (id !== undefined) this.ids.set(mac, id);
      }),
    );
  }
}
