import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { TaskEniError } from '../errors.js';
import { DockerRefusal, type DockerConnection } from './docker-connection.js';
import { jsonLines } from './json-lines.js';
import { PullProgress } from './pull-progress.js';

/** Milliseconds: how often a pull is spoken of, and how long it may be silent. */
const reportEvery = 3_000;
const silence = 60_000;

/** Images that Docker lacks. However many ask for one, it is pulled once. */
export class PauseImages {
  private readonly pulls = new Map<string, Promise<void>>();

  constructor(
    private readonly connection: DockerConnection,
    private readonly logger: Logger,
  ) {}

  /** Resolves once the engine has the image. Throws `step-failed`, with a way to load it, when it cannot be had. */
  pull(image: string): Promise<void> {
    const running = this.pulls.get(image);
    if (running !== undefined) return running;
    const pull = this.download(image).finally(() => this.pulls.delete(image));
    this.pulls.set(image, pull);
    return pull;
  }

  private async download(image: string): Promise<void> {
    this.logger.info({ image }, 'pulling the pause image');
    const started = Date.now();
    try {
      await this.follow(image);
    } catch (error) {
      const failure = this.connection.translate(error, `pull ${image}`);
      throw failure instanceof DockerRefusal ? unobtainable(image, failure.message, failure) : failure;
    }
    this.logger.info({ image, seconds: (Date.now() - started) / 1000 }, 'the pause image is there');
  }

  private async follow(image: string): Promise<void> {
    const stream = await this.connection.call(
      `begin to pull ${image}`,
      (docker, signal) => docker.pull(image, { abortSignal: signal }) as Promise<Readable>,
      { within: silence },
    );
    const progress = new PullProgress();
    const hush = () => stream.destroy(this.silent(image));
    let watchdog = setTimeout(hush, silence);
    let reported = Date.now();
    try {
      for await (const line of jsonLines(stream)) {
        progress.take(line);
        clearTimeout(watchdog);
        watchdog = setTimeout(hush, silence);
        if (Date.now() - reported < reportEvery) continue;
        reported = Date.now();
        this.logger.info({ image, progress: progress.summary() }, 'pulling the pause image');
      }
    } finally {
      clearTimeout(watchdog);
    }
    if (progress.error !== undefined) throw unobtainable(image, progress.error);
  }

  private silent(image: string): TaskEniError {
    return this.connection.unavailable(`said nothing about the pull of ${image} for ${silence / 1000} s`);
  }
}

function unobtainable(image: string, reason: string, cause?: unknown): TaskEniError {
  return new TaskEniError(
    'step-failed',
    `the pause image ${image} is not on this host and cannot be pulled (${reason}). Load it with "docker load", ` +
      'or build one with deploy/pause/build.sh and name it in TASK_ENI_PAUSE_IMAGE',
    { cause },
  );
}
