import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseTaskId, type TaskId } from '../attachments/task-id.js';
import type { Environment } from '../environment-reader.js';
import { TaskEniError } from '../errors.js';
import type { Settings } from '../settings.js';
import { type Container, joins, readContainer, requireOwnNamespace } from './container.js';
import { openContainerNamespace } from './container-namespace.js';
import { DockerConnection, isRefusal } from './docker-connection.js';
import { DockerEvents, type ContainerEvent } from './docker-events.js';
import { parseDockerHost } from './docker-host.js';
import { PauseImages } from './pause-image.js';
import {
  instanceLabel,
  isConfiguredAs,
  isPauseOf,
  type PauseRequest,
  pauseContainerOptions,
  taskLabel,
} from './pause-container.js';
import { type Sandbox, sandboxOf } from './sandbox.js';

/** A container that bears this instance's mark. */
export interface PauseContainer {
  readonly containerId: string;
  readonly name: string;
  /** Null when the label is no task id. */
  readonly taskId: TaskId | null;
  readonly running: boolean;
}

/** Milliseconds that the engine may take to make, start or remove a container. */
const slow = 30_000;

/** Pause containers that hold tasks' namespaces open, and a look at containers of others. */
export class DockerSandboxes {
  private readonly connection: DockerConnection;
  private readonly images: PauseImages;
  private readonly instance: string;

  /** Throws SettingsError when DOCKER_HOST names no engine. */
  constructor(
    settings: Pick<Settings, 'dockerHost' | 'instance'>,
    private readonly logger: Logger,
    environment: Environment = process.env,
  ) {
    this.connection = new DockerConnection(parseDockerHost(settings.dockerHost, environment));
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
    const container = await this.find(await this.obtain(request));
    if (!container?.running)
      throw new TaskEniError(
        'step-failed',
        `the container ${request.name} ended at once: is ${request.image} a pause image?`,
      );
    return sandboxOf(openContainerNamespace(container), {
      kind: 'docker',
      owned: true,
      containerId: container.id,
      pid: container.pid,
    });
  }

  /** A container by its id or name, running and with a network namespace of its own. Throws `unusable-sandbox`. */
  async inspect(idOrName: string): Promise<Container> {
    const container = await this.find(idOrName);
    if (container === undefined) throw new TaskEniError('unusable-sandbox', `there is no container ${idOrName}`);
    requireOwnNamespace(container);
    return container;
  }

  /** Ids of the running containers that share this one's network namespace by `--network container:`. */
  async joined(containerId: string): Promise<string[]> {
    const container = await this.find(containerId);
    if (container === undefined) return [];
    const running = await this.connection.call('list the running containers', (docker, abortSignal) =>
      docker.listContainers({ abortSignal }),
    );
    return running.filter(({ HostConfig }) => joins(HostConfig.NetworkMode, container)).map(({ Id }) => Id);
  }

  /** Kills and removes the task's pause container. What does not bear the task's labels is left alone. */
  async remove(idOrName: string, taskId: TaskId): Promise<'removed' | 'absent' | 'not-ours'> {
    const container = await this.find(idOrName);
    if (container === undefined) return 'absent';
    if (!isPauseOf(container, this.instance, taskId)) return 'not-ours';
    await this.destroy(container);
    return 'removed';
  }

  /** All containers of this instance, whatever their state. */
  async list(): Promise<PauseContainer[]> {
    const filters = JSON.stringify({ label: [`${instanceLabel}=${this.instance}`] });
    const containers = await this.connection.call('list the pause containers', (docker, abortSignal) =>
      docker.listContainers({ all: true, filters, abortSignal }),
    );
    return containers.map(({ Id, Names, Labels, State }) => ({
      containerId: Id,
      name: (Names[0] ?? '').replace(/^\//, ''),
      taskId: parseTaskId(Labels[taskLabel] ?? '') ?? null,
      running: State === 'running' || State === 'paused',
    }));
  }

  /** Throws `docker-unavailable` with the reason. */
  async ping(): Promise<void> {
    await this.connection.call('answer a ping', (docker, abortSignal) => docker.ping({ abortSignal }), 3_000);
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

  private async obtain(request: PauseRequest): Promise<string> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const id = (await this.make(request)) ?? (await this.reuse(request));
      if (id !== undefined) return id;
    }
    throw new TaskEniError('step-failed', `Docker neither makes nor shows a container ${request.name}`);
  }

  /** Undefined when it has to be tried again: the name was taken, or the image was not there and now is. */
  private async make(request: PauseRequest): Promise<string | undefined> {
    const { name, image } = request;
    const options = pauseContainerOptions(request, this.instance);
    try {
      const { id } = await this.connection.call(
        `create the container ${name}`,
        (docker, abortSignal) => docker.createContainer({ ...options, abortSignal }),
        slow,
      );
      await this.connection.call(
        `start the container ${name}`,
        (docker, abortSignal) => docker.getContainer(id).start({ abortSignal }),
        slow,
      );
      return id;
    } catch (error) {
      if (isRefusal(error, 404)) await this.images.pull(image);
      else if (!isRefusal(error, 409)) throw error;
      return undefined;
    }
  }

  /** The container that has the name, when it will do; one of ours that will not do is removed. */
  private async reuse(request: PauseRequest): Promise<string | undefined> {
    const { name, taskId } = request;
    const found = await this.find(name);
    if (found === undefined) return undefined;
    if (!isPauseOf(found, this.instance, taskId))
      throw new TaskEniError('unusable-sandbox', `the container ${name} is not one that this service made for the task`);
    if (found.running && isConfiguredAs(found, request)) return found.id;
    const joined = found.running ? await this.joined(found.id) : [];
    if (joined.length > 0)
      throw new TaskEniError(
        'containers-joined',
        `the task's container ${name} has another DNS configuration, and ${joined.length} container(s) use it`,
      );
    this.logger.warn({ taskId, container: name, running: found.running }, 'replacing a pause container that will not do');
    await this.destroy(found);
    return undefined;
  }

  private async destroy({ id, name }: Container): Promise<void> {
    try {
      await this.connection.call(
        `remove the container ${name}`,
        (docker, abortSignal) => {
          const options = { force: true, v: true, abortSignal };
          return docker.getContainer(id).remove(options);
        },
        slow,
      );
    } catch (error) {
      // 409: somebody else is removing it.
      if (isRefusal(error, 409)) await this.gone(id, name);
      else if (!isRefusal(error, 404)) throw error;
    }
  }

  private async gone(id: string, name: string): Promise<void> {
    const deadline = Date.now() + slow;
    while ((await this.find(id)) !== undefined) {
      if (Date.now() > deadline)
        throw new TaskEniError('step-failed', `Docker is still removing the container ${name} after ${slow / 1000} s`);
      await sleep(100);
    }
  }

  private async find(idOrName: string): Promise<Container | undefined> {
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(idOrName)) return undefined;
    try {
      const info = await this.connection.call(`inspect the container ${idOrName}`, (docker, abortSignal) =>
        docker.getContainer(idOrName).inspect({ abortSignal }),
      );
      return readContainer(info);
    } catch (error) {
      if (isRefusal(error, 404)) return undefined;
      throw error;
    }
  }
}
