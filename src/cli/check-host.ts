import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { TokenFile } from '../api/token-file.js';
import type { ListenAddress } from '../environment-reader.js';
import { describeError } from '../errors.js';
import { FileLock, LockedError } from '../kernel/file-lock.js';
import { InstanceLock } from '../kernel/instance-lock.js';
import { openNamespace } from '../kernel/namespaces.js';
import { NetlinkSession } from '../kernel/netlink.js';
import { pinReach } from '../kernel/pin-reach.js';
import { isPinned, pinPath } from '../kernel/pins.js';
import type { Settings } from '../settings.js';
import { type Finding, fail, ok, warn } from './finding.js';
import { getOverSocket } from './socket-call.js';

/** linux/magic.h: file systems in memory. */
const memoryFileSystems: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/** Whether what the service pins outlives it. */
export function checkPinReach(): Finding {
  const name = 'mount namespace';
  const { reaches, detail } = pinReach();
  if (reaches === true) return ok(name, detail);
  if (reaches === false)
    return fail(name, detail, "Mount the host's /run/netns with rshared propagation, or run outside a container.");
  return warn(name, detail, "Add CAP_SYS_PTRACE, and in a container the host's pid namespace, to have it checked.");
}

/** Whether this instance's service runs already, so that what it holds is no clash. */
export async function isServing({ apiSocket }: Settings): Promise<boolean> {
  if (apiSocket === null) return false;
  try {
    return (await getOverSocket(apiSocket, '/healthz')).status === 200;
  } catch {
    // Nobody listens, or not the service: the checks that follow find out what is in the way.
    return false;
  }
}

/** Whether a listener of the settings can have its port. */
export async function checkPort(variable: string, address: ListenAddress | null, serving: boolean): Promise<Finding[]> {
  if (address === null) return [];
  const shown = `${address.host}:${address.port}`;
  const server = createServer();
  try {
    server.listen(address);
    await once(server, 'listening');
    server.close();
    return [ok(variable, `${shown} is free`)];
  } catch (error) {
    if (serving) return [ok(variable, `${shown} is held by the service that runs`)];
    return [
      fail(variable, describeError(error), `Stop what listens on ${shown} (ss -ltnp shows it), or set ${variable}.`),
    ];
  }
}

/** Whether the bridge's namespace is free or this instance's own. */
export async function checkNames({ instance, bridge }: Settings, serving: boolean): Promise<Finding> {
  const name = 'names';
  const path = pinPath(instance);
  if (!existsSync(path)) return ok(name, `${path} is free`);
  if (!isPinned(instance))
    return fail(name, `${path} is there and is no namespace`, 'Remove it, or set TASK_ENI_BRIDGE_NETNS.');
  if (!serving && InstanceLock.isHeld(instance))
    return fail(name, `${path} is held by another service`, 'Stop that service, or set TASK_ENI_BRIDGE_NETNS.');
  const namespace = openNamespace(path);
  const session = NetlinkSession.open(namespace);
  try {
    const kind = (await session.linkByName(bridge))?.kind;
    if (kind === undefined || kind === 'bridge') return ok(name, `${path} is there and is adopted`);
    return fail(name, `${bridge} in ${path} is a ${kind}`, `Remove the link, or set TASK_ENI_BRIDGE.`);
  } finally {
    session.close();
    namespace.close();
  }
}

/** Whether another service already works on the state; the lock says it even when that one does not answer. */
export function checkLock({ stateDir }: Settings, serving: boolean): Finding[] {
  const name = 'state lock';
  const path = join(stateDir, 'lock');
  if (!existsSync(path)) return [];
  try {
    FileLock.acquire(path).release();
    return [ok(name, `${path} is free`)];
  } catch (error) {
    if (serving && error instanceof LockedError) return [ok(name, `${path} is held by the service that runs`)];
    return [fail(name, describeError(error), 'Stop that process, or set TASK_ENI_STATE_DIR.')];
  }
}

/** Whether state and runtime files can be written, and secrets may lie there. */
export function checkFolders({ stateDir, runDir }: Settings): Finding[] {
  const state = canWrite(stateDir)
    ? ok('TASK_ENI_STATE_DIR', `${stateDir} can be written`)
    : fail('TASK_ENI_STATE_DIR', `${stateDir} cannot be written`, 'Make it writable, or set another folder.');
  if (!canWrite(runDir))
    return [state, fail('TASK_ENI_RUN_DIR', `${runDir} cannot be written`, 'Make it writable, or set another folder.')];
  if (memoryFileSystems.has(statfsSync(nearest(runDir)).type))
    return [state, ok('TASK_ENI_RUN_DIR', `${runDir} is in memory`)];
  const advice = 'Set a folder on tmpfs if agents push credentials and the service is to keep them over a restart.';
  return [state, warn('TASK_ENI_RUN_DIR', `${runDir} is on disk, so no secret is kept there`, advice)];
}

function canWrite(folder: string): boolean {
  try {
    accessSync(nearest(folder), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // No permission, or a file system that is read-only: either way nothing can be made there.
    return false;
  }
}

/** The folder itself, or the one in which it will be made. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

/** Whether a token that is there can be used; a missing one is made at the start. */
export function checkToken({ apiAddress, apiTokenFile }: Settings): Finding[] {
  const name = 'token';
  if (apiAddress === null) return [];
  if (!existsSync(apiTokenFile)) return [ok(name, `${apiTokenFile} will be made`)];
  try {
    TokenFile.open(apiTokenFile);
    return [ok(name, `${apiTokenFile} can be used`)];
  } catch (error) {
    return [fail(name, describeError(error), 'Mend the file, or set TASK_ENI_API_TOKEN_FILE.')];
  }
}
