import type { ContainerInspectInfo } from 'dockerode';
import { TaskEniError } from '../errors.js';

/** What the service needs to know of a container. */
export interface Container {
  readonly id: string;
  readonly name: string;
  readonly running: boolean;
  /** Of the container's first process, in the engine's pid namespace; 0 when there is none. */
  readonly pid: number;
  /** Where Docker keeps the namespace open; changes on a restart, while the inode number may not. */
  readonly sandboxKey: string;
  readonly networkMode: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hostname: string;
  readonly dnsServers: readonly string[];
  readonly dnsSearch: readonly string[];
  readonly extraHosts: readonly string[];
}

/** Reads the answer to GET /containers/{id}/json (Docker Engine API). */
export function readContainer(info: ContainerInspectInfo): Container {
  const { HostConfig: host } = info;
  return {
    id: info.Id,
    name: info.Name.replace(/^\//, ''),
    running: info.State.Running,
    pid: info.State.Pid,
    sandboxKey: info.NetworkSettings.SandboxKey ?? '',
    networkMode: host.NetworkMode ?? '',
    labels: info.Config.Labels ?? {},
    hostname: info.Config.Hostname,
    dnsServers: host.Dns ?? [],
    dnsSearch: host.DnsSearch ?? [],
    extraHosts: host.ExtraHosts ?? [],
  };
}

/** Whether the container has a network namespace of its own, now. Throws `unusable-sandbox`. */
export function requireOwnNamespace(container: Container): void {
  const { name, networkMode } = container;
  const refuse = (reason: string) => {
    throw new TaskEniError('unusable-sandbox', `the container ${name} ${reason}`);
  };
  if (networkMode === 'host') refuse("is in the host's network namespace");
  if (networkMode.startsWith('container:'))
    refuse(`is in the network namespace of the container ${networkMode.slice('container:'.length)}: name that one`);
  if (!container.running || container.pid <= 0) refuse('is not running');
}

/** Whether a NetworkMode names this container, by its id, its name or the beginning of its id. */
export function joins(networkMode: string, container: Pick<Container, 'id' | 'name'>): boolean {
  const target = /^container:(.+)$/.exec(networkMode)?.[1];
  if (target === undefined) return false;
  return target === container.name || (/^[0-9a-f]{12,64}$/.test(target) && container.id.startsWith(target));
}
