/** IFLA_LINKINFO (linux/if_link.h): what kind of link it is, and what only that kind has. Pure bytes. */
import { type Attributes, attribute, byteAttribute, nestedAttribute, textAttribute } from './attributes.js';

const IFLA_LINKINFO = 18;
const INFO = { KIND: 1, DATA: 2, SLAVE_KIND: 4, SLAVE_DATA: 5 } as const;
const VETH_INFO_PEER = 1;
const IFLA_BR_MCAST_SNOOPING = 23;
const BRPORT = { LEARNING: 8, UNICAST_FLOOD: 9, MCAST_FLOOD: 27, BCAST_FLOOD: 30, ISOLATED: 33 } as const;

/** How a bridge treats what comes and goes by one port (bridge(8)). */
export interface PortFlags {
  /** Nothing passes between two isolated ports. */
  readonly isolated: boolean;
  /** Source addresses seen are remembered: whoever takes a neighbour's address then gets what is meant for it. */
  readonly learning: boolean;
  readonly unicastFlood: boolean;
  readonly multicastFlood: boolean;
  readonly broadcastFlood: boolean;
}

export interface LinkInfo {
  readonly kind: string | undefined;
  /** Only of a bridge's port. */
  readonly portFlags: PortFlags | undefined;
}

export function readLinkInfo(link: Attributes): LinkInfo {
  const info = link.nested(IFLA_LINKINFO);
  const port = info?.text(INFO.SLAVE_KIND) === 'bridge' ? info.nested(INFO.SLAVE_DATA) : undefined;
  return { kind: info?.text(INFO.KIND), portFlags: port && readPortFlags(port) };
}

function readPortFlags(port: Attributes): PortFlags {
  return {
    isolated: port.byte(BRPORT.ISOLATED) === 1,
    learning: port.byte(BRPORT.LEARNING) === 1,
    unicastFlood: port.byte(BRPORT.UNICAST_FLOOD) === 1,
    multicastFlood: port.byte(BRPORT.MCAST_FLOOD) === 1,
    broadcastFlood: port.byte(BRPORT.BCAST_FLOOD) === 1,
  };
}

export function portFlagsInfo(flags: PortFlags): Buffer {
  return nestedAttribute(
    IFLA_LINKINFO,
    textAttribute(INFO.SLAVE_KIND, 'bridge'),
    nestedAttribute(
      INFO.SLAVE_DATA,
      byteAttribute(BRPORT.ISOLATED, Number(flags.isolated)),
      byteAttribute(BRPORT.LEARNING, Number(flags.learning)),
      byteAttribute(BRPORT.UNICAST_FLOOD, Number(flags.unicastFlood)),
      byteAttribute(BRPORT.MCAST_FLOOD, Number(flags.multicastFlood)),
      byteAttribute(BRPORT.BCAST_FLOOD, Number(flags.broadcastFlood)),
    ),
  );
}

/** `peer`: the peer's whole link message, header and attributes. */
export function vethInfo(peer: Buffer): Buffer {
  const data = nestedAttribute(INFO.DATA, attribute(VETH_INFO_PEER, peer));
  return nestedAttribute(IFLA_LINKINFO, textAttribute(INFO.KIND, 'veth'), data);
}

/** A bridge that does not listen for multicast group members: its ports get no multicast at all. */
export function bridgeInfo(): Buffer {
  const data = nestedAttribute(INFO.DATA, byteAttribute(IFLA_BR_MCAST_SNOOPING, 0));
  return nestedAttribute(IFLA_LINKINFO, textAttribute(INFO.KIND, 'bridge'), data);
}
