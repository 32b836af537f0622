/**
 * The bytes of rtnetlink attributes: length and type (16 bits each, in the host's byte order), payload, padding to four
 * bytes (netlink(7)). Pure. Node runs on little-endian Linux only.
 */
import { type Ipv4, type Ipv6, addressFromBytes } from '../addresses/cidr.js';

const headerLength = 4;
const aligned = (length: number): number => (length + 3) & ~3;

export function attribute(type: number, payload: Uint8Array): Buffer {
  const length = headerLength + payload.length;
  const bytes = Buffer.alloc(aligned(length));
  bytes.writeUInt16LE(length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(payload, headerLength);
  return bytes;
}

export function byteAttribute(type: number, value: number): Buffer {
  return attribute(type, Uint8Array.of(value));
}

export function wordAttribute(type: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32LE(value);
  return attribute(type, payload);
}

/** A text with the NUL that the kernel wants at its end. */
export function textAttribute(type: number, text: string): Buffer {
  return attribute(type, Buffer.from(`${text}\0`));
}

/** Attributes inside an attribute. Requests that the kernel checks strictly are refused without the flag. */
export function nestedAttribute(type: number, ...children: readonly Buffer[]): Buffer {
  const nestedFlag = 0x8000;
  return attribute(type | nestedFlag, Buffer.concat(children));
}

/** The attribute's type without the flags for nesting and byte order (linux/netlink.h, NLA_TYPE_MASK). */
const typeMask = 0x3fff;

/** Calls `visit` for each attribute from `offset` on. What is cut short is left out. */
function forEachAttribute(bytes: Buffer, offset: number, visit: (type: number, payload: Buffer) => void): void {
  let at = offset;
  while (at + headerLength <= bytes.length) {
    const length = bytes.readUInt16LE(at);
    if (length < headerLength || at + length > bytes.length) return;
    visit(bytes.readUInt16LE(at + 2) & typeMask, bytes.subarray(at + headerLength, at + length));
    at += aligned(length);
  }
}

/** Attributes by type; of several with one type the last. */
export class Attributes {
  private readonly payloads = new Map<number, Buffer>();

  constructor(bytes: Buffer, offset = 0) {
    forEachAttribute(bytes, offset, (type, payload) => this.payloads.set(type, payload));
  }

  bytes(type: number): Buffer | undefined {
    return this.payloads.get(type);
  }

  byte(type: number): number | undefined {
    return this.payloads.get(type)?.readUInt8();
  }

  word(type: number): number | undefined {
    return this.payloads.get(type)?.readUInt32LE();
  }

  text(type: number): string | undefined {
    const payload = this.payloads.get(type);
    if (payload === undefined) return undefined;
    const end = payload.indexOf(0);
    return payload.toString('utf8', 0, end === -1 ? payload.length : end);
  }

  address(type: number): Ipv4 | Ipv6 | undefined {
    const payload = this.payloads.get(type);
    return payload && addressFromBytes(payload);
  }

  nested(type: number): Attributes | undefined {
    const payload = this.payloads.get(type);
    return payload && new Attributes(payload);
  }

  /** The texts of one type inside a nested attribute that may hold many of them. */
  texts(type: number, inner: number): string[] {
    const found: string[] = [];
    const payload = this.payloads.get(type);
    if (payload === undefined) return found;
    forEachAttribute(payload, 0, (innerType, text) => {
      if (innerType === inner) found.push(text.toString('utf8', 0, Math.max(0, text.length - 1)));
    });
    return found;
  }
}
