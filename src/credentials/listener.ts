import { closeSync } from 'node:fs';
import type { Ipv4 } from '../addresses/cidr.js';
import { listenIn } from '../kernel/listening-socket.js';
import type { Namespace } from '../kernel/namespaces.js';

/** The socket on which containers fetch, held for as long as the bridge's namespace is the same one. */
export class Listener {
  private held: { readonly descriptor: number; readonly cookie: bigint } | undefined;

  constructor(
    private readonly namespace: () => Namespace,
    private readonly address: { readonly host: Ipv4; readonly port: number },
  ) {}

  /** The descriptor; the socket is made by the first call. Throws what {@link listenIn} throws. */
  open(): number {
    this.held ??= {
      descriptor: listenIn(this.namespace(), this.address.host, this.address.port),
      cookie: this.namespace().cookie,
    };
    return this.held.descriptor;
  }

  close(): void {
    if (this.held !== undefined) closeSync(this.held.descriptor);
    this.held = undefined;
  }

  /** Whether it listens in a namespace that is no longer the bridge's: one made anew knows nothing of it. */
  isStale(): boolean {
    return this.held !== undefined && this.namespace().cookie !== this.held.cookie;
  }
}
