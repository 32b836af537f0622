declare const macBrand: unique symbol;

/** An EUI-48 hardware address in the kernel's own notation: lower case, colons, e.g. `02:00:00:00:00:01`. */
export type Mac = string & { readonly [macBrand]: true };

const pattern = /^[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}$/;

/** Reads a hardware address written in either case with `:` or `-` (a trailing `/`, as instance metadata lists them, is not part of one). */
export function parseMac(text: string): Mac | undefined {
  const lower = text.toLowerCase();
  return pattern.test(lower) ? (lower.replaceAll('-', ':') as Mac) : undefined;
}

/** The address as the six bytes of IFLA_ADDRESS. */
export function macToBytes(mac: Mac): Buffer {
  return Buffer.from(mac.replaceAll(':', ''), 'hex');
}

/** Reads IFLA_ADDRESS or IFLA_PERM_ADDRESS; undefined when it is not an EUI-48 address (loopback, tunnels, InfiniBand differ). */
export function macFromBytes(bytes: Uint8Array): Mac | undefined {
  if (bytes.length !== 6) return undefined;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':') as Mac;
}
