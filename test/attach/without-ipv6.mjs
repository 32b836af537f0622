/**
 * Loaded before the service, makes the kernel look as one that was booted with ipv6.disable=1: no settings under
 * /proc/sys/net/ipv6, and EAFNOSUPPORT for every rtnetlink request that begins with AF_INET6.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { NetlinkSocket } from 'netlink';

const AF_INET6 = 10;
const NLMSG_ERROR = 2;
const EAFNOSUPPORT = 97;

for (const name of ['existsSync', 'readFileSync', 'writeFileSync']) {
  const real = fs[name];
  fs[name] = (path, ...rest) =>
    real(typeof path === 'string' ? path.replace('/proc/sys/net/ipv6', '/proc/sys/net/absent') : path, ...rest);
}
syncBuiltinESMExports();

const real = Object.getOwnPropertyDescriptor(NetlinkSocket.prototype, 'request').value;
NetlinkSocket.prototype.request = function (type, data, ...rest) {
  const body = Array.isArray(data) ? data[0] : data;
  if (body?.[0] !== AF_INET6) return real.call(this, type, data, ...rest);
  const refusal = Buffer.alloc(20);
  refusal.writeInt32LE(-EAFNOSUPPORT);
  return Promise.resolve([[{ type: NLMSG_ERROR, flags: 0, seq: 0, port: 0, data: refusal }]]);
};
