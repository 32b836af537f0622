import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { describeError, TaskEniError } from '../errors.js';
import { SettingsError } from '../settings.js';
import { type DockerAddress, formatDockerAddress } from './docker-host.js';

/** The engine answered, and said no. */
export class DockerRefusal extends TaskEniError {
  constructor(
    /** HTTP status of the Docker Engine API. */
    readonly status: number,
    doing: string,
    message: string,
    cause: unknown,
  ) {
    super('step-failed', `Docker would not ${doing}: ${message}`, { cause });
  }
}

export function isRefusal(error: unknown, ...statuses: readonly number[]): error is DockerRefusal {
  return error instanceof DockerRefusal && statuses.includes(error.status);
}

export interface CallOptions {
  /** Milliseconds, 10,000 unless given. */
  readonly within?: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly cancel?: AbortSignal;
}

const usual = 10_000;

/** The engine's API. Every call has an end: an engine that does not answer is `docker-unavailable`. */
export class DockerConnection {
  private readonly options: Docker.DockerOptions;
  private docker: Promise<Docker> | undefined;
  readonly name: string;

  constructor(address: DockerAddress) {
    this.options = dockerOptions(address);
    this.name = formatDockerAddress(address);
  }

  /**
   * Runs one request. `doing` is what a reader of the log would say it does, e.g. `start the container web`.
   * Throws {@link DockerRefusal} for an answer that is an error, `docker-unavailable` when none comes.
   */
  async call<T>(
    doing: string,
    request: (docker: Docker, signal: AbortSignal) => Promise<T>,
    { within = usual, cancel }: CallOptions = {},
  ): Promise<T> {
    this.docker ??= connect(this.options);
    const docker = await this.docker;
    const controller = new AbortController();
    const { signal } = controller;
    const ended = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as TaskEniError));
    });
    const giveUp = (reason: string) => controller.abort(this.unavailable(reason));
    const timer = setTimeout(() => giveUp(`did not ${doing} within ${within / 1000} s`), within);
    const cancelled = () => giveUp(`was not waited for to ${doing}`);
    cancel?.addEventListener('abort', cancelled);
    try {
      // A race, for aborting is not enough: a response cut off in its body never settles in docker-modem.
      return await Promise.race([request(docker, signal), ended]);
    } catch (error) {
      throw this.translate(error, doing);
    } finally {
      clearTimeout(timer);
      cancel?.removeEventListener('abort', cancelled);
    }
  }

  async ping(): Promise<void> {
    const request = (docker: Docker, abortSignal: AbortSignal) => {
      // The types lack the options that dockerode takes.
      const ping: (options: object) => Promise<unknown> = docker.ping.bind(docker);
      return ping({ abortSignal });
    };
    await this.call('answer a ping', request, { within: 3_000 });
  }

  unavailable(what: string, cause?: unknown): TaskEniError {
    return new TaskEniError('docker-unavailable', `the Docker engine at ${this.name} ${what}`, { cause });
  }

  /** What went wrong with a request, or with a stream that one opened, as the service's own error. */
  translate(error: unknown, doing: string): TaskEniError {
    if (error instanceof TaskEniError) return error;
    const answer = error as { statusCode?: unknown; json?: { message?: unknown } | null };
    if (typeof answer.statusCode === 'number') {
      const said = answer.json?.message;
      return new DockerRefusal(answer.statusCode, doing, typeof said === 'string' ? said : describeError(error), error);
    }
    return this.unavailable(`did not ${doing}: ${describeError(error)}`, error);
  }
}

/** dockerode comes with an SSH client and gRPC, a seventh of all that the service loads: hosts without Docker do without. */
async function connect(options: Docker.DockerOptions): Promise<Docker> {
  const { default: Engine } = await import('dockerode');
  return new Engine(options);
}

/** Everything is said outright, for docker-modem fills each gap from the process's environment. */
function dockerOptions(address: DockerAddress): Docker.DockerOptions & { agent: HttpAgent } {
  // A connection for each call: one kept alive may be dead when it is used next, and fails a call that would have worked.
  const fresh = { keepAlive: false };
  const none = { ca: undefined, cert: undefined, key: undefined, timeout: undefined };
  if (address.kind === 'unix')
    return { ...none, socketPath: address.path, host: undefined, protocol: 'http', agent: new HttpAgent(fresh) };
  const { host, port, certificates } = address;
  if (certificates === null) return { ...none, host, port, protocol: 'http', agent: new HttpAgent(fresh) };
  const file = (name: string) => readCertificate(join(certificates, name));
  const keys = { ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem') };
  return { ...none, ...keys, host, port, protocol: 'https', agent: new HttpsAgent(fresh) };
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError([`DOCKER_CERT_PATH: ${describeError(error)}`]);
  }
}
