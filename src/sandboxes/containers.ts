import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { TaskEniError } from '../errors.js';
import { type Container, joins, readContainer } from './container.js';
import { type DockerConnection, isRefusal } from './docker-connection.js';

/** Milliseconds that the engine may take to make, start or remove a container. */
const slow = 30_000;

/** The engine's containers, call by call; who may do what to which is not decided here. */
export class Containers {
  constructor(private readonly connection: DockerConnection) {}

  /** Undefined when there is none of that id or name. */
  async find(idOrName: string): Promise<Container | undefined> {
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

  /** Returns its id. A refusal with 404 says that the image is not there, one with 409 that the name is taken. */
  async create(name: string, options: Docker.ContainerCreateOptions): Promise<string> {
    const create = (docker: Docker, abortSignal: AbortSignal) =>
      docker.createContainer({ ...options, name, abortSignal });
    return (await this.connection.call(`create the container ${name}`, create, { within: slow })).id;
  }

  async start(id: string, name: string): Promise<void> {
    const start = (docker: Docker, abortSignal: AbortSignal) => docker.getContainer(id).start({ abortSignal });
    await this.connection.call(`start the container ${name}`, start, { within: slow });
  }

  /** Kills it without grace and removes it; resolves once it is gone. */
  async destroy({ id, name }: Container): Promise<void> {
    const remove = (docker: Docker, abortSignal: AbortSignal) => {
      const options = { force: true, v: true, abortSignal };
      return docker.getContainer(id).remove(options);
    };
    try {
      await this.connection.call(`remove the container ${name}`, remove, { within: slow });
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

  /** Ids of the running containers that are in this one's network namespace by `--network container:`. */
  async joined(container: Container): Promise<string[]> {
    const running = await this.connection.call('list the running containers', (docker, abortSignal) =>
      docker.listContainers({ abortSignal }),
    );
    return running.filter(({ HostConfig }) => joins(HostConfig.NetworkMode, container)).map(({ Id }) => Id);
  }

  /** All that bear the label, whatever their state. */
  labelled(label: string, value: string): Promise<Docker.ContainerInfo[]> {
    const filters = JSON.stringify({ label: [`${label}=${value}`] });
    return this.connection.call(`list the containers with ${label}=${value}`, (docker, abortSignal) =>
      docker.listContainers({ all: true, filters, abortSignal }),
    );
  }
}
