import { parseMac, type Mac } from '../addresses/mac.js';
import { hasPortFlags, portFlags } from '../bridge/port.js';
import { describeError } from '../errors.js';
import { type Namespace, ownNamespace } from '../kernel/namespaces.js';
import { NetlinkSession } from '../kernel/netlink.js';
import { pinNamespace, unpinNamespace } from '../kernel/pins.js';
import { kernelHasIpv6 } from '../kernel/sysctl.js';
import { type Finding, fail, ok, warn } from './finding.js';

const mac = parseMac('0a:58:a9:fe:00:01') as Mac;

/** Whether the kernel does what an attach asks of it, tried in two namespaces made for this and removed again. */
export async function checkKernel(): Promise<Finding[]> {
  return [await check('network namespaces', lookAtOwn), await check('bridge and veth', tryBridge), checkIpv6()];
}

async function check(name: string, attempt: () => Promise<string>): Promise<Finding> {
  try {
    return ok(name, await attempt());
  } catch (error) {
    const advice =
      'Run as root on Linux 5.14 or newer with network namespaces, bridge and veth (CONFIG_NET_NS, _BRIDGE, _VETH).';
    return fail(name, describeError(error), advice);
  }
}

/** Opening a namespace reads its SO_NETNS_COOKIE (Linux 5.14). */
async function lookAtOwn(): Promise<string> {
  const own = ownNamespace();
  try {
    const session = NetlinkSession.open(own);
    const links = await session.links().finally(() => session.close());
    return `opened, told apart and asked by rtnetlink (${links.length} links here)`;
  } finally {
    own.close();
  }
}

async function tryBridge(): Promise<string> {
  const names = ['bridge', 'task'].map((part) => `task-eni-doctor-${process.pid}-${part}`);
  const opened: Namespace[] = [];
  try {
    for (const name of names) opened.push(await pinNamespace(name));
    const [home, task] = opened as [Namespace, Namespace];
    await connect(home, task);
    return 'made, connected and removed in scratch namespaces';
  } finally {
    for (const namespace of opened) namespace.close();
    for (const name of names) await unpinNamespace(name);
  }
}

async function connect(home: Namespace, task: Namespace): Promise<void> {
  const session = NetlinkSession.open(home);
  try {
    await session.createBridge('scratch', mac, 1500);
    const bridge = await session.linkByName('scratch');
    const end = { name: 'port', mtu: 1500 };
    await session.createVeth(end, { name: 'task', mtu: 1500, namespace: task }, bridge?.index ?? 0);
    const port = await session.linkByName('port');
    if (port === undefined) throw new Error('the veth that was made is not there');
    await session.setLink(port.index, { portFlags });
    const flagged = await session.linkByIndex(port.index);
    if (flagged === undefined || !hasPortFlags(flagged))
      throw new Error('the kernel ignores the flags of bridge ports');
  } finally {
    session.close();
  }
}

function checkIpv6(): Finding {
  if (kernelHasIpv6()) return ok('IPv6', 'the kernel has it');
  return warn(
    'IPv6',
    'the kernel has none',
    'Tasks get the IPv4 of their ENIs only; boot without ipv6.disable=1 for more.',
  );
}
