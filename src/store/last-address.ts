import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Ipv4, parseIpv4 } from '../addresses/cidr.js';
import { describeError } from '../errors.js';

/**
 * Remembers over a restart which link-local address was given out last, so that freed ones rest then too. Only a hint:
 * which addresses are taken is told by records and bridge, and a file that is missing or torn costs nothing.
 */
export class LastAddress {
  private readonly path: string;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    stateDir: string,
    private readonly logger: Logger,
  ) {
    this.path = join(stateDir, 'last-address');
  }

  read(): Ipv4 | undefined {
    try {
      return parseIpv4(readFileSync(this.path, 'utf8').trim());
    } catch (error) {
      this.logger.debug({ reason: describeError(error) }, 'no link-local address is remembered');
      return undefined;
    }
  }

  /** On its way to the disk, in the order of the calls. */
  write(address: Ipv4): void {
    this.writing = this.writing
      .then(() => writeFile(this.path, `${address}\n`, { mode: 0o600 }))
      .catch((error: unknown) => {
        this.logger.warn({ reason: describeError(error) }, 'the last link-local address could not be remembered');
      });
  }
}
