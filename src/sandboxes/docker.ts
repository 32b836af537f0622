import type { Logger } from 'pino';
import type { TaskId } from '../attachments/task-id.js';
import type { Environment } from '../environment-reader.js';
import { TaskEniError } from '../errors.js';
import type { Settings } from '../settings.js';
import { type Container, requireOwnNamespace } from './container.js';
import { openContainerNamespace } from './container-namespace.js';
import { Containers } from './containers.js';
import { DockerConnection, isRefusal } from './docker-connection.js';
import { DockerEvents, type ContainerEvent } from './docker-events.js';
import { parseDockerHost } from './docker-host.js';
import {
  instanceLabel,
  isConfiguredAs,
  isPauseOf,
  type PauseRequest,
  pauseContainerOptions,
  taskLabel,
} from './pause-container.js';
import { PauseImages } from './pause-image.js';
import { type Sandbox, sandboxOf } from './sandbox.js';

/** A container that bears this instance's mark. */
export interface PauseContainer {
  readonly containerId: string;
  readonly name: string;
  /** As its label says it; nobody vouches that it is a task id. */
  readonly task: string;
  readonly running: boolean;
}

/** Pause containers that hold tasks' namespaces open, and a look at containers of others. */
export class DockerSandboxes {
  private readonly connection: DockerConnection;
  private readonly containers: Containers;
  private readonly images: PauseImages;
  private readonly instance: string;

  /** Throws SettingsError when DOCKER_HOST names no engine. */
  constructor(
    settings: Pick<Settings, 'dockerHost' | 'instance'>,
    private readonly logger: Logger,
    environment: Environment = process.env,
  ) {
    this.connection = new DockerConnection(parseDockerHost(settings.dockerHost, environment));
    this.containers = new Containers(this.connection);
    this.images = new PauseImages(this.connection, logger);
    this.instance = settings.instance;
  }

  /** Where the engine is, as DOCKER_HOST would have it. */
  get engine(): string {
    return this.connection.name;
  }

  /**
   * The task's pause container, running: the one that is there when it is ours and as asked, else a new one. Throws
   * `docker-unavailable`, `unusable-sandbox` (the name is a stranger's), `containers-joined` (one of ours that is
   * configured otherwise is in use), `step-failed`.
   */
  async create(request: PauseRequest): Promise<Sandbox> {
    const container = await this.containers.find(await this.obtain(request));
    if (!container?.running) {
      const detail = `the container ${request.name} ended at once: is ${request.image} a pause image?`;
      throw new TaskEniError('step-failed', detail);
    }
    const { id: containerId, pid } = container;
    return sandboxOf(openContainerNamespace(container), { kind: 'docker', owned: true, containerId, pid });
  }

  private async obtain(request: PauseRequest): Promise<string> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const id = (await this.make(request)) ?? (await this.reuse(request));
      if (id !== undefined) return id;
    }
    throw new TaskEniError('step-failed', `Docker neither makes nor shows a container ${request.name}`);
  }

  /** Undefined when it has to be tried again: the name was taken, the image was not there and now is, or a prune came. */
  private async make(request: PauseRequest): Promise<string | undefined> {
    const { name, image } = request;
    let id: string;
    try {
      id = await this.containers.create(name, pauseContainerOptions(request, this.instance));
    } catch (error) {
      if (isRefusal(error, 404)) await this.images.pull(image);
      else if (!isRefusal(error, 409)) throw error;
      return undefined;
    }
    try {
      await this.containers.start(id, name);
    } catch (error) {
      // Between the two calls it is a container that does not run: `docker system prune` takes those away.
      if (isRefusal(error, 404) && (await this.containers.find(id)) === undefined) return undefined;
      throw error;
    }
    return id;
  }

  /** The container that has the name, when it will do; one of ours that will not do is removed. */
  private async reuse(request: PauseRequest): Promise<string | undefined> {
    const { name, taskId } = request;
    const found = await this.containers.find(name);
    if (found === undefined) return undefined;
    if (!isPauseOf(found, this.instance, taskId))
      throw new TaskEniError(
        'unusable-sandbox',
        `the container ${name} is not one that this service made for the task`,
      );
    if (found.running && isConfiguredAs(found, request)) return found.id;
    await this.refuseJoined(found);
    this.logger.warn({ taskId, container: name, running: found.running }, 'replacing a pause container');
    await this.containers.destroy(found);
    return undefined;
  }

  private async refuseJoined(container: Container): Promise<void> {
    const joined = container.running ? await this.containers.joined(container) : [];
    if (joined.length === 0) return;
    const detail = `${joined.length} container(s) use the task's container ${container.name}, which has another DNS configuration`;
    throw new TaskEniError('containers-joined', detail);
  }

  /** A container by its id or name, running and with a network namespace of its own. Throws `unusable-sandbox`. */
  async inspect(idOrName: string): Promise<Container> {
    const container = await this.containers.find(idOrName);
    if (container === undefined) throw new TaskEniError('unusable-sandbox', `there is no container ${idOrName}`);
    requireOwnNamespace(container);
    return container;
  }

  async isRunning(containerId: string): Promise<boolean> {
    return (await this.containers.find(containerId))?.running ?? false;
  }

  /** Ids of the running containers that share this one's network namespace by `--network container:`. */
  async joined(containerId: string): Promise<string[]> {
    const container = await this.containers.find(containerId);
    return container === undefined ? [] : this.containers.joined(container);
  }

  /** Kills and removes the task's pause container. What does not bear the task's labels is left alone. */
  async remove(idOrName: string, taskId: TaskId): Promise<'removed' | 'absent' | 'not-ours'> {
    const container = await this.containers.find(idOrName);
    if (container === undefined) return 'absent';
    if (!isPauseOf(container, this.instance, taskId)) return 'not-ours';
    await this.containers.destroy(container);
    return 'removed';
  }

  /** All containers of this instance, whatever their state. */
  async list(): Promise<PauseContainer[]> {
    const found = await this.containers.labelled(instanceLabel, this.instance);
    return found.map(({ Id, Names, Labels, State }) => ({
      containerId: Id,
      name: (Names[0] ?? '').replace(/^\//, ''),
      task: Labels[taskLabel] ?? '',
      running: State === 'running' || State === 'paused',
    }));
  }

  /** Throws `docker-unavailable` with the reason. */
  async ping(): Promise<void> {
    await this.connection.ping();
  }

  /**
   * Tells of every container that starts or ends, ours or not, until it is stopped. `onRelist` is called whenever events
   * may have been missed, first of all at the start.
   */
  watch(onEvent: (event: ContainerEvent) => void, onRelist: () => void): DockerEvents {
    const events = new DockerEvents(this.connection, this.logger, onEvent, onRelist);
    events.start();
    return events;
  }
}
