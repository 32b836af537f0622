/**
 * Loaded into the service before its own code. The file FAIL_FILE names one step and moment, e.g. `move-eni after`: there the
 * next call of what the step is made of fails, once; `after` lets it do its work first.
 */
import { readFileSync, rmSync } from 'node:fs';

const { FAIL_DIST, FAIL_FILE } = process.env;
const load = (path) => import(`${FAIL_DIST}/${path}`);
const { KernelError } = await load('kernel/errno.js');

function isDue(point) {
  try {
    if (readFileSync(FAIL_FILE, 'utf8') !== point) return false;
  } catch {
    return false;
  }
  rmSync(FAIL_FILE);
  return true;
}

function failAt(point) {
  if (isDue(point)) throw new KernelError('EIO', `forced ${point}`);
}

function breakable(prototype, method, step, { asynchronous = true, when = () => true } = {}) {
  const real = prototype[method];
  prototype[method] = function (...args) {
    if (!when(...args)) return real.apply(this, args);
    try {
      failAt(`${step} before`);
    } catch (error) {
      // An asynchronous function does not throw, it rejects.
      if (asynchronous) return Promise.reject(error);
      throw error;
    }
    const value = real.apply(this, args);
    if (!(value instanceof Promise)) {
      failAt(`${step} after`);
      return value;
    }
    return value.then((result) => {
      failAt(`${step} after`);
      return result;
    });
  };
}

breakable((await load('addresses/pool.js')).AddressPool.prototype, 'claim', 'reserve-address', { asynchronous: false });
breakable((await load('sandboxes/sandboxes.js')).Sandboxes.prototype, 'create', 'prepare-sandbox');
breakable((await load('bridge/bridge-namespace.js')).BridgeNamespace.prototype, 'connect', 'connect-bridge');
breakable(
  (await load('credentials/task-credentials.js')).TaskCredentials.prototype,
  'register',
  'register-credentials',
);
breakable((await load('dhcp/dhcp-clients.js')).DhcpClients.prototype, 'start', 'start-dhcp', { asynchronous: false });
const netlink = (await load('kernel/netlink.js')).NetlinkSession.prototype;
breakable(netlink, 'rules', 'clear-host-config');
breakable(netlink, 'moveLink', 'move-eni');
breakable(netlink, 'replaceRoute', 'configure-eni', { when: ({ destination }) => destination.prefix === 0 });
