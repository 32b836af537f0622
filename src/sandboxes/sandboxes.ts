import type { SandboxRequest } from '../attachments/request.js';
import type { TaskId } from '../attachments/task-id.js';
import { TaskEniError } from '../errors.js';
import { isErrno } from '../kernel/errno.js';
import { type Namespace, NotANamespaceError, openNamespace } from '../kernel/namespaces.js';
import type { SandboxPlan } from '../steps/step.js';
import type { SandboxRecord } from '../store/record.js';
import type { BareSandboxes } from './bare.js';
import { type ForbiddenNamespace, borrow } from './borrowed.js';
import type { DockerSandboxes } from './docker.js';
import { hostNamespaces } from './host-namespaces.js';
import type { Sandbox } from './sandbox.js';

/** Every kind of sandbox: which of the classes acts follows from the plan or the record. */
export class Sandboxes {
  constructor(
    readonly docker: DockerSandboxes,
    readonly bare: BareSandboxes,
    /** Asked at each borrowing, for the bridge's namespace is made while the service runs. */
    private readonly forbidden: () => readonly ForbiddenNamespace[],
  ) {}

  /** Makes the planned sandbox, finds it made, or opens the caller's. */
  create(plan: SandboxPlan, taskId: TaskId): Promise<Sandbox> {
    if (!plan.owned) return this.borrow(requestOf(plan));
    return plan.kind === 'docker' ? this.docker.create({ ...plan, taskId }) : this.bare.create(plan);
  }

  /** Opens a sandbox of the caller's. Throws `unusable-sandbox`. */
  borrow(request: SandboxRequest): Promise<Sandbox> {
    return borrow(request, this.docker, this.forbidden());
  }

  /**
   * Removes what {@link create} made; the caller's sandbox is left as it is, and absent is fine. `containerId` is that of a
   * container which may bear another name by now.
   */
  async remove(plan: SandboxPlan, taskId: TaskId, containerId: string | null = null): Promise<void> {
    if (!plan.owned) return;
    if (plan.kind === 'netns') await this.bare.remove(plan.name);
    else if (containerId === null || (await this.docker.remove(containerId, taskId)) !== 'removed')
      await this.docker.remove(plan.name, taskId);
  }

  /** The namespace that the record was made with; undefined when it is gone, or when another has its place. */
  open(record: SandboxRecord): Namespace | undefined {
    for (const path of pathsOf(record)) {
      const namespace = openIfThere(path);
      if (namespace === undefined) continue;
      if (String(namespace.cookie) === record.cookie) return namespace;
      namespace.close();
    }
    return undefined;
  }

  /** Like {@link open}, also when no known path leads there any more because only other processes are left in it. */
  async search(record: SandboxRecord): Promise<Namespace | undefined> {
    const known = this.open(record);
    if (known !== undefined) return known;
    for (const path of await hostNamespaces()) {
      // PID 1's may be closed even to root.
      const namespace = openIfThere(path, 'EACCES', 'EPERM');
      if (namespace === undefined) continue;
      if (String(namespace.cookie) === record.cookie) return namespace;
      namespace.close();
    }
    return undefined;
  }

  /**
   * Whether the sandbox still holds its namespace. While the engine is away the namespace itself has to answer: an engine
   * that crashed leaves its mounts behind, so a namespace alone does not prove that the container runs.
   */
  async alive(record: SandboxRecord): Promise<boolean> {
    const namespace = this.open(record);
    if (namespace === undefined) return false;
    namespace.close();
    // The container's own process still in it is proof enough, and costs the engine nothing.
    if (record.containerId === null || namespace.path === `/proc/${record.pid}/ns/net`) return true;
    try {
      return await this.docker.isRunning(record.containerId);
    } catch (error) {
      if (error instanceof TaskEniError && error.code === 'docker-unavailable') return true;
      throw error;
    }
  }
}

function requestOf(plan: SandboxPlan & { owned: false }): SandboxRequest {
  if (plan.kind === 'docker') return { kind: 'container', containerId: plan.containerId };
  return plan.kind === 'pid' ? { kind: 'pid', pid: plan.pid } : { kind: 'netns', path: plan.path };
}

/** Docker's mount may have gone from this mount namespace while the container lives; the cookie tells a wrong process. */
function pathsOf({ netns, containerId, pid }: SandboxRecord): string[] {
  return containerId === null || pid === null ? [netns] : [`/proc/${pid}/ns/net`, netns];
}

function openIfThere(path: string, ...alsoAbsent: readonly string[]): Namespace | undefined {
  try {
    return openNamespace(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ESRCH', ...alsoAbsent) || error instanceof NotANamespaceError)
      return undefined;
    throw error;
  }
}
