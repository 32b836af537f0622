/** The lab's engine, and what these tests make on it: independent of what the service sees. */
import { DockerEngine } from '../lab/docker-engine.js';

export class TestEngine {
  readonly dockerHost: string;
  /** The instance of these tests, so that they find again, and remove, what is theirs alone. */
  readonly instance = `tesbx${process.pid}`;
  readonly pauseImage: string;
  private readonly engine: DockerEngine;

  private constructor(engine: DockerEngine, pauseImage: string) {
    this.engine = engine;
    this.dockerHost = engine.host;
    this.pauseImage = pauseImage;
  }

  static async start(): Promise<TestEngine> {
    const engine = await DockerEngine.start();
    return new TestEngine(engine, await engine.importImage('pause'));
  }

  async stop(): Promise<void> {
    await this.clean();
    await this.engine.stop();
  }

  /** What `docker <args>` printed. */
  docker(...args: string[]): Promise<string> {
    return this.engine.docker(...args);
  }

  environment(): Record<string, string> {
    return this.engine.environment();
  }

  /** A container that is nobody's; gives its id. */
  container(name: string, ...options: string[]): Promise<string> {
    return this.docker('run', '--detach', '--name', `${this.instance}-${name}`, ...options, this.pauseImage);
  }

  /** An image that starts another of the programs of busybox; gives its name. */
  async imageOf(name: string, entrypoint: string): Promise<string> {
    const image = `${this.instance}-${name}`;
    const base = await this.docker('create', '--network', 'none', await this.engine.importImage('app'));
    try {
      await this.docker('commit', '--change', `ENTRYPOINT ["${entrypoint}"]`, '--change', 'CMD []', base, image);
    } finally {
      await this.docker('rm', base);
    }
    return image;
  }

  /** One field of `docker inspect`, as JSON. */
  async inspect<T>(container: string, field: string): Promise<T> {
    return JSON.parse(await this.docker('inspect', '--format', `{{json ${field}}}`, container)) as T;
  }

  /** Ids of all containers whose names begin with that of the instance. */
  async containers(): Promise<string[]> {
    const listed = await this.docker('ps', '--all', '--quiet', '--no-trunc', '--filter', `name=^${this.instance}`);
    return listed.split('\n').filter(Boolean);
  }

  async clean(): Promise<void> {
    const left = await this.containers();
    if (left.length > 0) await this.docker('rm', '--force', ...left);
    const images = await this.docker('images', '--quiet', `${this.instance}-*`);
    if (images !== '') await this.docker('rmi', ...images.split('\n'));
  }
}
