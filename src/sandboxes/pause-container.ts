import type { ContainerCreateOptions } from 'dockerode';
import type { DnsRequest } from '../attachments/request.js';
import type { TaskId } from '../attachments/task-id.js';
import type { Container } from './container.js';

/** The labels that prove a container to be an instance's, and say which task it holds open. */
export const instanceLabel = 'task-eni.instance';
export const taskLabel = 'task-eni.task';

export interface PauseRequest {
  readonly name: string;
  readonly taskId: TaskId;
  readonly image: string;
  readonly dns: DnsRequest | null;
  /** `host:address` each. */
  readonly hosts: readonly string[];
}

const mebibyte = 1024 * 1024;

/** The body of POST /containers/create (Docker Engine API) for a container that does nothing but hold a namespace open. Pure. */
export function pauseContainerOptions(request: PauseRequest, instance: string): ContainerCreateOptions {
  const { taskId, image, dns, hosts } = request;
  return {
    Image: image,
    Labels: { [instanceLabel]: instance, [taskLabel]: taskId },
    ...(dns?.hostname ? { Hostname: dns.hostname } : {}),
    HostConfig: {
      NetworkMode: 'none',
      Dns: [...(dns?.servers ?? [])],
      DnsSearch: [...(dns?.search ?? [])],
      ExtraHosts: [...hosts],
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none', Config: {} },
      // Not for the pause, which needs 4 MiB and one process, but for runc, which starts within the same limits.
      Memory: 64 * mebibyte,
      PidsLimit: 64,
      // A new namespace inherits forwarding from the initial one, where Docker turns it on.
      Sysctls: { 'net.ipv4.ip_forward': '0' },
    },
  };
}

/** Whether the service of this instance made the container for this task. */
export function isPauseOf(container: Pick<Container, 'labels'>, instance: string, taskId: TaskId): boolean {
  return container.labels[instanceLabel] === instance && container.labels[taskLabel] === taskId;
}

/** Whether a container found under the name would resolve names as the one that is wanted. */
export function isConfiguredAs(container: Container, request: PauseRequest): boolean {
  const same = (one: readonly string[], other: readonly string[]) => one.join('\n') === other.join('\n');
  const hostname = request.dns?.hostname ?? null;
  return (
    same(container.dnsServers, request.dns?.servers ?? []) &&
    same(container.dnsSearch, request.dns?.search ?? []) &&
    same(container.extraHosts, request.hosts) &&
    // Without one of its own a container is called by the beginning of its id.
    container.hostname === (hostname ?? container.id.slice(0, 12))
  );
}
