/** The engine of the Docker tests, seen with the docker command: independent of what the service sees. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../lab/command.js';

const buildScript = fileURLToPath(new URL('../../deploy/pause/build.sh', import.meta.url));

export const pauseImage = 'task-eni-test/pause:1';

export class TestEngine {
  readonly dockerHost: string;
  /** The instance of these tests, so that they find again, and remove, what is theirs alone. */
  readonly instance: string;

  private constructor(dockerHost: string) {
    this.dockerHost = dockerHost;
    this.instance = `tesbx${process.pid}`;
  }

  static async start(): Promise<TestEngine> {
    const dockerHost = process.env['DOCKER_HOST'];
    if (dockerHost === undefined) throw new Error('DOCKER_HOST names no engine');
    const engine = new TestEngine(dockerHost);
    await run(buildScript, ['--import', pauseImage], { env: engine.environment() });
    return engine;
  }

  environment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', DOCKER_HOST: this.dockerHost };
  }

  /** What `docker <args>` printed. */
  async docker(...args: string[]): Promise<string> {
    return (await run('docker', args, { env: this.environment() })).trim();
  }

  /** A container that is nobody's; gives its id. */
  container(name: string, ...options: string[]): Promise<string> {
    return this.docker('run', '--detach', '--name', `${this.instance}-${name}`, ...options, pauseImage);
  }

  /** An image of the engine with nothing in it but a program, compiled from its C source; gives the image's name. */
  async importProgram(name: string, source: string, change = 'ENTRYPOINT ["/program"]'): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'program-'));
    const image = `${this.instance}-${name}`;
    try {
      await run('gcc', ['-static', '-x', 'c', '-o', `${directory}/program`, '-'], { input: source });
      await run('tar', ['--create', '--file', `${directory}/image.tar`, '--directory', directory, 'program']);
      await this.docker('import', '--change', change, `${directory}/image.tar`, image);
    } finally {
      await rm(directory, { recursive: true });
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
