/** Policy routing rules as rtnetlink messages (ip-rule(8), linux/fib_rules.h). Pure bytes. */
import type { Cidr, Ipv4, Ipv6 } from '../addresses/cidr.js';
import { type IpFamily, families } from './address-message.js';
import { Attributes } from './attributes.js';

const FRA = { SRC: 2, IIFNAME: 3, PRIORITY: 6, TABLE: 15, OIFNAME: 17 } as const;
const headerLength = 12;

export interface Rule {
  readonly family: IpFamily;
  readonly priority: number;
  readonly table: number;
  readonly source: Cidr<Ipv4 | Ipv6> | undefined;
  readonly incoming: string | undefined;
  readonly outgoing: string | undefined;
  /** The kernel's own message: sent back with RTM_DELRULE it removes exactly this rule. */
  readonly message: Buffer;
}

/** For the rules of every family that the kernel has. */
export function ruleQuery(): Buffer {
  return Buffer.alloc(headerLength);
}

export function parseRule(message: Buffer): Rule | undefined {
  const family = message.readUInt8(0);
  if (family !== families.ipv4 && family !== families.ipv6) return undefined;
  const attributes = new Attributes(message, headerLength);
  const source = attributes.address(FRA.SRC);
  return {
    family,
    priority: attributes.word(FRA.PRIORITY) ?? 0,
    table: attributes.word(FRA.TABLE) ?? message.readUInt8(4),
    source: source && { address: source, prefix: message.readUInt8(2) },
    incoming: attributes.text(FRA.IIFNAME),
    outgoing: attributes.text(FRA.OIFNAME),
    message,
  };
}
