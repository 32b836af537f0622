import { type Ipv4, type Ipv4Cidr, ipv4FromNumber, ipv4ToNumber, networkNumber } from './cidr.js';

/** How many tasks the subnet has room for: all of it but network, broadcast and the bridge's own address. */
export function poolCapacity(subnet: Ipv4Cidr): number {
  return 2 ** (32 - subnet.prefix) - 3;
}

/**
 * The next address after `last` that nobody holds, wrapping at the end of the subnet: an address that was just freed is
 * the last to be given out again. Undefined when all are taken. Addresses that end in .0 or .255 inside the subnet are
 * hosts like any other.
 */
export function nextFree(
  subnet: Ipv4Cidr,
  isTaken: (address: Ipv4) => boolean,
  last: Ipv4 | undefined,
): Ipv4 | undefined {
  const first = networkNumber(subnet) + 2;
  const capacity = poolCapacity(subnet);
  const offset = last === undefined ? 0 : ipv4ToNumber(last) - first + 1;
  const start = offset >= 0 && offset < capacity ? offset : 0;
  for (let step = 0; step < capacity; step += 1) {
    const address = ipv4FromNumber(first + ((start + step) % capacity));
    if (!isTaken(address)) return address;
  }
  return undefined;
}

/** Who holds which link-local address. Rebuilt at start from the records and from the bridge's ports; nothing else remembers it. */
export class AddressPool {
  private readonly holders = new Map<Ipv4, string>();

  constructor(
    readonly subnet: Ipv4Cidr,
    private last: Ipv4 | undefined,
    /** Told of each address as it is given out, for a memory that outlives this one. */
    private readonly onGiven: (address: Ipv4) => void = () => {},
  ) {}

  get capacity(): number {
    return poolCapacity(this.subnet);
  }

  get allocated(): number {
    return this.holders.size;
  }

  holder(address: Ipv4): string | undefined {
    return this.holders.get(address);
  }

  /** Gives `hash` an address; undefined when the pool is full. */
  reserve(hash: string): Ipv4 | undefined {
    const address = nextFree(this.subnet, (candidate) => this.holders.has(candidate), this.last);
    if (address === undefined) return undefined;
    this.last = address;
    this.holders.set(address, hash);
    this.onGiven(address);
    return address;
  }

  /** Notes an address that is in use already; false when somebody else holds it. */
  claim(address: Ipv4, hash: string): boolean {
    const holder = this.holders.get(address);
    if (holder !== undefined && holder !== hash) return false;
    this.holders.set(address, hash);
    return true;
  }

  release(address: Ipv4, hash: string): void {
    if (this.holders.get(address) === hash) this.holders.delete(address);
  }
}
