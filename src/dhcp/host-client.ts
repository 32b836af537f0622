import { fstatSync } from 'node:fs';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { Namespace } from '../kernel/namespaces.js';
import { hostClientNames, servedInterface } from './client-arguments.js';
import { type ObservedProcess, endProcess, findProcesses } from './processes.js';

export interface HostClientSearch {
  /** Name of the ENI's link, as the host knows it. */
  readonly interface: string;
  /** The namespace that the link is in: the host's. */
  readonly namespace: Pick<Namespace, 'fd'>;
  readonly log: Logger;
}

/**
 * Ends the DHCP clients that the host runs on an ENI, so that they do not go on configuring a link that is about to leave.
 * Only a process whose executable is dhclient, dhcpcd or udhcpc, that serves this one interface, and that is in this network
 * namespace; clients inside systemd-networkd or NetworkManager are those programs' own affair.
 * Resolves with whether one was stopped; one that does not end, or may not be signalled, is told in the log.
 */
export async function stopHostClient(search: HostClientSearch): Promise<boolean> {
  const { log } = search;
  const { processes, opaque } = await findProcesses(hostClientNames);
  for (const { pid, errno } of opaque)
    log.warn(
      { pid, errno },
      'a process that may be a DHCP client cannot be looked into (CAP_SYS_PTRACE); it is left alone',
    );
  const inode = fstatSync(search.namespace.fd).ino;
  const clients = processes.filter((process_) => serves(process_, search.interface, inode));
  const ended = await Promise.all(
    clients.map(async (client) => {
      const gone = await endProcess(client);
      const what = { pid: client.pid, executable: client.executable, interface: search.interface };
      if (gone) log.info(what, "the host's DHCP client on the ENI was stopped");
      else log.warn(what, "the host's DHCP client on the ENI does not end");
      return gone;
    }),
  );
  return ended.includes(true);
}

function serves(process_: ObservedProcess, link: string, namespaceInode: number): boolean {
  return (
    process_.namespaceInode === namespaceInode && servedInterface(basename(process_.executable), process_.args) === link
  );
}
