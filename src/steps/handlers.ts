import type { AddressPool } from '../addresses/pool.js';
import type { BridgeNamespace } from '../bridge/bridge-namespace.js';
import type { TaskCredentials } from '../credentials/task-credentials.js';
import type { DhcpClients } from '../dhcp/dhcp-clients.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { clearHostConfigStep } from './clear-host-config.js';
import { configureEniStep } from './configure-eni.js';
import { connectBridgeStep } from './connect-bridge.js';
import type { HostSide } from './host-side.js';
import { moveEniStep } from './move-eni.js';
import { prepareSandboxStep } from './prepare-sandbox.js';
import { registerCredentialsStep } from './register-credentials.js';
import { reserveAddressStep } from './reserve-address.js';
import type { Handlers } from './run-plan.js';
import { startDhcpStep } from './start-dhcp.js';
import type { TaskContext } from './task-context.js';

export interface HandlerParts {
  readonly pool: AddressPool;
  readonly sandboxes: Sandboxes;
  readonly host: HostSide;
  readonly bridge: BridgeNamespace;
  readonly credentials: TaskCredentials;
  readonly dhcp: DhcpClients;
}

/** Everything that this program does to a host on a task's behalf, and how each is taken back. */
export function stepHandlers(parts: HandlerParts): Handlers<TaskContext> {
  return {
    'reserve-address': reserveAddressStep(parts.pool),
    'prepare-sandbox': prepareSandboxStep(parts.sandboxes),
    'clear-host-config': clearHostConfigStep(parts.host),
    'connect-bridge': connectBridgeStep(parts.bridge),
    'move-eni': moveEniStep(parts.host),
    'configure-eni': configureEniStep(),
    'register-credentials': registerCredentialsStep(parts.credentials),
    'start-dhcp': startDhcpStep(parts.dhcp),
  };
}
