import type { Logger } from 'pino';
import { describeError } from '../errors.js';
import type { Namespace } from '../kernel/namespaces.js';
import { processesRunning, stopProcess } from '../kernel/processes.js';
import { hostClientNames, servedInterface } from './client-arguments.js';

/** Milliseconds until a client that has not ended is killed. */
const graceMs = 2_000;

export interface HostClientSearch {
  /** Name of the ENI's link, as the host knows it. */
  readonly interface: string;
  /** The namespace that the link is in: the host's. */
  readonly namespace: Namespace;
  readonly log: Logger;
}

/**
 * Ends the DHCP clients that the host runs on an ENI, so that they do not go on configuring a link that is about to leave.
 * Only a process whose executable is dhclient, dhcpcd or udhcpc, that serves this one interface, and that is in this network
 * namespace; clients inside systemd-networkd or NetworkManager are those programs' own affair.
 * Resolves with whether one was stopped; one that does not end, or may not be signalled, is told in the log.
 */
export async function stopHostClient({ interface: link, namespace, log }: HostClientSearch): Promise<boolean> {
  const clients = processesRunning(hostClientNames, namespace).filter(
    ({ program, argv }) => servedInterface(program, argv) === link,
  );
  const stopped = await Promise.all(
    clients.map(async (client) => {
      const what = { pid: client.pid, program: client.program, interface: link };
      try {
        const present = await stopProcess(client, graceMs);
        if (present) log.info(what, "the host's DHCP client on the ENI was stopped");
        return present;
      } catch (error) {
        // The ENI leaves all the same: without its link the client has nothing left to configure.
        log.warn({ ...what, reason: describeError(error) }, "the host's DHCP client on the ENI cannot be stopped");
        return false;
      }
    }),
  );
  return stopped.includes(true);
}
