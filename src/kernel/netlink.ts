import { FlagsNew, rt } from 'netlink';
import type { Cidr, Ipv4, Ipv6 } from '../addresses/cidr.js';
import type { Mac } from '../addresses/mac.js';
import {
  type Address,
  type IpFamily,
  addressMessage,
  addressQuery,
  families,
  parseAddress,
  scopes,
} from './address-message.js';
import { blocking } from './blocking-queue.js';
import { ignoring, isErrno } from './errno.js';
import { bridgeInfo, vethInfo } from './link-info.js';
import { type Link, type LinkChange, altNamesMessage, linkMessage, linkQuery, parseLink } from './link-message.js';
import type { Namespace } from './namespaces.js';
import {
  type ForwardingEntry,
  type Neighbour,
  forwardingMessage,
  neighbourMessage,
  neighbourQuery,
  parseForwardingEntry,
  parseNeighbour,
} from './neighbour-message.js';
import { NetlinkTransport } from './netlink-transport.js';
import { type NewRoute, type Route, parseRoute, routeMessage, routeQuery } from './route-message.js';
import { type Rule, parseRule, ruleQuery } from './rule-message.js';

const RTM = rt.MessageType;
const createNew = FlagsNew.CREATE | FlagsNew.EXCL;
const createOrReplace = FlagsNew.CREATE | FlagsNew.REPLACE;

export interface VethEnd {
  readonly name: string;
  readonly mac?: Mac | undefined;
  readonly mtu: number;
}

type Cidrs = Cidr<Ipv4 | Ipv6>;

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

/**
 * What can be asked of the kernel about one network namespace, a verb each. Requests of one session are carried out in the
 * order of the calls, so several may be sent without waiting for each answer. All fail with KernelError.
 */
export class NetlinkSession {
  private constructor(private readonly transport: NetlinkTransport) {}

  static open(namespace: Namespace): NetlinkSession {
    return new NetlinkSession(NetlinkTransport.open(namespace));
  }

  close(): void {
    this.transport.close();
  }

  async links(): Promise<Link[]> {
    const messages = await this.transport.dump({ type: RTM.GETLINK, body: linkQuery(0), operation: 'list links' });
    return messages.map(parseLink);
  }

  linkByIndex(index: number): Promise<Link | undefined> {
    return this.findLink(linkQuery(index), `find link ${index}`);
  }

  /** By name or by alternative name. */
  linkByName(name: string): Promise<Link | undefined> {
    return this.findLink(linkQuery(0, name), `find link ${name}`);
  }

  private async findLink(body: Buffer, operation: string): Promise<Link | undefined> {
    try {
      const message = await this.transport.request({ type: RTM.GETLINK, body, operation });
      return message && parseLink(message);
    } catch (error) {
      if (isErrno(error, 'ENODEV')) return undefined;
      throw error;
    }
  }

  /** RTM_NEWLINK without NLM_F_CREATE: the only request in which the kernel heeds port flags. */
  async setLink(index: number, change: LinkChange): Promise<void> {
    await this.transport.request({
      type: RTM.NEWLINK,
      body: linkMessage(index, change),
      operation: `set link ${index}`,
    });
  }

  /** Moves the link, makes the other changes once it is there, and forgets its addresses and routes: some 17 ms. */
  moveLink(index: number, target: Namespace, change: LinkChange = {}): Promise<void> {
    const body = linkMessage(index, { ...change, namespaceFd: target.fd });
    const operation = `move link ${index} to ${target.path}`;
    return blocking(async () => void (await this.transport.request({ type: RTM.NEWLINK, body, operation })));
  }

  deleteLink(index: number): Promise<void> {
    const request = { type: RTM.DELLINK, body: linkMessage(index, {}), operation: `delete link ${index}` };
    return blocking(async () => void (await this.transport.request(request)));
  }

  async deleteAltNames(index: number, names: readonly string[]): Promise<void> {
    const body = altNamesMessage(index, names);
    await this.transport.request({ type: RTM.DELLINKPROP, body, operation: `delete other names of link ${index}` });
  }

  /** A pair with `end` here, a port of `master`, and `peer` born in its own namespace; both down. */
  async createVeth(end: VethEnd, peer: VethEnd & { readonly namespace: Namespace }, master: number): Promise<void> {
    const { namespace, ...peerChange } = peer;
    const peerMessage = linkMessage(0, { ...peerChange, namespaceFd: namespace.fd });
    const body = linkMessage(0, { ...end, master }, vethInfo(peerMessage));
    await this.transport.request({ type: RTM.NEWLINK, flags: createNew, body, operation: `create link ${end.name}` });
  }

  async createBridge(name: string, mac: Mac, mtu: number): Promise<void> {
    const body = linkMessage(0, { name, mac, mtu }, bridgeInfo());
    await this.transport.request({ type: RTM.NEWLINK, flags: createNew, body, operation: `create bridge ${name}` });
  }

  async addresses(index?: number): Promise<Address[]> {
    const body = addressQuery(families.unspecified);
    const messages = await this.transport.dump({ type: RTM.GETADDR, body, operation: 'list addresses' });
    const addresses = messages.map(parseAddress).filter(isDefined);
    return index === undefined ? addresses : addresses.filter((address) => address.index === index);
  }

  /** Throws EEXIST when the link has it already. */
  async addAddress(index: number, cidr: Cidrs, scope: number = scopes.universe): Promise<void> {
    const operation = `add ${cidr.address}/${cidr.prefix} to link ${index}`;
    const body = addressMessage(index, cidr, scope);
    await this.transport.request({ type: RTM.NEWADDR, flags: createNew, body, operation });
  }

  async deleteAddress(index: number, cidr: Cidrs): Promise<void> {
    const operation = `delete ${cidr.address}/${cidr.prefix} from link ${index}`;
    await this.transport.request({ type: RTM.DELADDR, body: addressMessage(index, cidr, scopes.universe), operation });
  }

  /** All tables. A kernel without IPv6 has no such routes: it refuses the question, or answers with what it has instead. */
  async routes(family: IpFamily): Promise<Route[]> {
    const listing = this.transport.dump({ type: RTM.GETROUTE, body: routeQuery(family), operation: 'list routes' });
    const messages = (await listing.catch(ignoring('EAFNOSUPPORT', 'EOPNOTSUPP'))) ?? [];
    return messages
      .map(parseRoute)
      .filter(isDefined)
      .filter((route) => route.family === family);
  }

  async replaceRoute(route: NewRoute): Promise<void> {
    const operation = `set route to ${route.destination.address}/${route.destination.prefix}`;
    await this.transport.request({ type: RTM.NEWROUTE, flags: createOrReplace, body: routeMessage(route), operation });
  }

  async deleteRoute(route: NewRoute): Promise<void> {
    const operation = `delete route to ${route.destination.address}/${route.destination.prefix}`;
    await this.transport.request({ type: RTM.DELROUTE, body: routeMessage(route), operation });
  }

  /** Of both families. */
  async rules(): Promise<Rule[]> {
    const messages = await this.transport.dump({ type: RTM.GETRULE, body: ruleQuery(), operation: 'list rules' });
    return messages.map(parseRule).filter(isDefined);
  }

  async deleteRule(rule: Rule): Promise<void> {
    await this.transport.request({ type: RTM.DELRULE, body: rule.message, operation: `delete rule ${rule.priority}` });
  }

  /** The link's IPv4 neighbours. */
  async neighbours(index: number): Promise<Neighbour[]> {
    const body = neighbourQuery(families.ipv4);
    const messages = await this.transport.dump({ type: RTM.GETNEIGH, body, operation: 'list neighbours' });
    return messages
      .map(parseNeighbour)
      .filter(isDefined)
      .filter((entry) => entry.index === index);
  }

  /** A permanent entry, in the place of any other. */
  async setNeighbour(index: number, address: Ipv4, mac: Mac): Promise<void> {
    const body = neighbourMessage(index, address, mac);
    await this.transport.request({
      type: RTM.NEWNEIGH,
      flags: createOrReplace,
      body,
      operation: `set neighbour ${address}`,
    });
  }

  async deleteNeighbour(index: number, address: Ipv4): Promise<void> {
    const body = neighbourMessage(index, address);
    await this.transport.request({ type: RTM.DELNEIGH, body, operation: `delete neighbour ${address}` });
  }

  async forwardingEntries(): Promise<ForwardingEntry[]> {
    const body = neighbourQuery(families.bridge);
    const messages = await this.transport.dump({ type: RTM.GETNEIGH, body, operation: 'list forwarding entries' });
    return messages.map(parseForwardingEntry).filter(isDefined);
  }

  /** A static entry: frames for `mac` leave by `port`, whoever else claims it. */
  async setForwardingEntry(port: number, mac: Mac): Promise<void> {
    const body = forwardingMessage(port, mac);
    await this.transport.request({ type: RTM.NEWNEIGH, flags: createOrReplace, body, operation: `forward ${mac}` });
  }

  async deleteForwardingEntry(port: number, mac: Mac): Promise<void> {
    const body = forwardingMessage(port, mac);
    await this.transport.request({ type: RTM.DELNEIGH, body, operation: `stop forwarding ${mac}` });
  }
}
