import type { Mac } from '../../../src/addresses/mac.js';
import type { Link } from '../../../src/kernel/link-message.js';

export const eniMac = '02:00:00:00:00:01' as Mac;

export function link(index: number, name: string, properties: Partial<Link> = {}): Link {
  return {
    index,
    name,
    kind: undefined,
    portFlags: undefined,
    mac: eniMac,
    permanentMac: undefined,
    mtu: 9001,
    txQueueLength: 1000,
    flags: 0x1002,
    up: false,
    alias: '',
    altNames: [],
    master: undefined,
    peerIndex: undefined,
    peerNamespaceId: undefined,
    lowerIndex: undefined,
    operState: 'down',
    ...properties,
  };
}
