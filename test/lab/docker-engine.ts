import { randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { run } from './command.js';
import { endDaemon, removeEngine, restartDaemon, startDaemon } from './docker-daemon.js';
import { type EngineFiles, filesOf } from './engine-files.js';
import { type ImageName, importImage } from './docker-images.js';
import { markLives, ownMark, withLock } from './file-lock.js';
import { isMissing } from './lab-id.js';

/**
 * A Docker engine of the lab's own: in a network namespace that has only lo, with no bridge and no packet filter rules.
 * There is one a machine of each name. Who starts it while it runs shares it; it ends when the last living one of those has
 * stopped it. A test that does harm to its engine takes one of another name.
 */
export class DockerEngine {
  /** As DOCKER_HOST takes it. */
  readonly host: string;
  readonly log: string;
  private readonly files: EngineFiles;
  private readonly userFile: string;

  private constructor(files: EngineFiles) {
    this.files = files;
    this.userFile = `${files.directory}/users/${process.pid}-${randomUUID()}`;
    this.host = `unix://${files.socket}`;
    this.log = files.log;
  }

  /** `settings` are those of daemon.json; an engine that runs already keeps its own. */
  static async start(options: { name?: string; settings?: object } = {}): Promise<DockerEngine> {
    const files = filesOf(options.name ?? 'engine');
    await mkdir(`${files.directory}/users`, { recursive: true, mode: 0o711 });
    const engine = new DockerEngine(files);
    await engine.locked(async () => {
      if (!(await engine.answers())) {
        await removeEngine(files);
        await startDaemon(files, options.settings ?? {});
      }
      await writeFile(engine.userFile, await ownMark());
    });
    return engine;
  }

  /** The daemon's process id. */
  async pid(): Promise<number> {
    const state = JSON.parse(await readFile(this.files.state, 'utf8')) as { mark: string };
    return Number.parseInt(state.mark);
  }

  /** The daemon ends; its containers, images and files stay for {@link startAgain}. */
  end(signal: NodeJS.Signals): Promise<void> {
    return endDaemon(this.files, signal);
  }

  /** Takes settings of daemon.json that a running daemon can change. */
  async configure(settings: object): Promise<void> {
    await writeFile(`${this.files.directory}/daemon.json`, JSON.stringify(settings));
    process.kill(await this.pid(), 'SIGHUP');
  }

  startAgain(): Promise<void> {
    return restartDaemon(this.files);
  }

  private locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(`${this.files.directory}/lock`, work);
  }

  /** Ends the engine unless another living process uses it; then nothing of it is left, images included. */
  async stop(): Promise<void> {
    await this.locked(async () => {
      await rm(this.userFile, { force: true });
      if (await this.isUsed()) return;
      await this.removeContainers();
      await endDaemon(this.files);
      await removeEngine(this.files);
    });
  }

  /** What `docker <args>` printed, trimmed. Throws CommandError unless it ends with 0. */
  async docker(...args: string[]): Promise<string> {
    return (await run('docker', args, { env: this.environment() })).trim();
  }

  /** For programs that talk to it, the docker command among them; no configuration of the user's is read. */
  environment(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', DOCKER_HOST: this.host, DOCKER_CONFIG: `${this.files.directory}/config` };
  }

  /** The image's name. */
  importImage(name: ImageName): Promise<string> {
    return importImage(name, { environment: this.environment(), docker: (...args) => this.docker(...args) });
  }

  /** What a lab's service needs to make its sandboxes here. */
  async serviceEnvironment(): Promise<Record<string, string>> {
    const pause = await this.importImage('pause');
    return { DOCKER_HOST: this.host, TASK_ENI_PAUSE_IMAGE: pause, TASK_ENI_SANDBOX: 'docker' };
  }

  private async isUsed(): Promise<boolean> {
    for (const name of await readdir(`${this.files.directory}/users`)) {
      const file = `${this.files.directory}/users/${name}`;
      if (await markLives(await readFile(file, 'utf8'))) return true;
      await rm(file, { force: true });
    }
    return false;
  }

  /** Whether the daemon that was recorded runs and answers. One that was killed and started by somebody else is not ours. */
  async answers(): Promise<boolean> {
    let state: { mark: string };
    try {
      state = JSON.parse(await readFile(this.files.state, 'utf8')) as { mark: string };
    } catch (error) {
      if (isMissing(error) || error instanceof SyntaxError) return false;
      throw error;
    }
    if (!(await markLives(state.mark))) return false;
    return this.docker('version', '--format', '{{.Server.Version}}').then(
      () => true,
      () => false,
    );
  }

  private async removeContainers(): Promise<void> {
    if (!(await this.answers())) return;
    const left = (await this.docker('ps', '--all', '--quiet')).split('\n').filter(Boolean);
    if (left.length > 0) await this.docker('rm', '--force', '--volumes', ...left);
  }
}
