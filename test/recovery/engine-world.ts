/** A lab whose service makes its sandboxes on an engine that may be harmed. */
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Network } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceOptions, ServiceProcess } from '../lab/service-process.js';
import { everythingOf } from './everything.js';

const besides = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export class EngineWorld {
  private constructor(
    readonly engine: DockerEngine,
    readonly lab: Lab,
    public eni: Eni,
    private readonly options: ServiceOptions,
    public service: ServiceProcess,
  ) {}

  /** `imports` are loaded into the service before its own code. */
  static async make(name: string, ...imports: string[]): Promise<EngineWorld> {
    const engine = await DockerEngine.start({ name });
    const lab = await Lab.create({ name, ipv6: false });
    try {
      const dist = besides('../../dist');
      const env = { KILL_FILE: killFile(lab), KILL_DIST: dist, PATIENCE_DIST: dist };
      const options = {
        nodeArgs: imports.flatMap((each) => ['--import', besides(each)]),
        env: { ...env, ...(await engine.serviceEnvironment()) },
      };
      const service = await lab.startService(options);
      return new EngineWorld(engine, lab, await lab.createEni(), options, service);
    } catch (error) {
      await lab.destroy();
      await engine.stop();
      throw error;
    }
  }

  async destroy(): Promise<void> {
    await this.service.kill();
    await this.lab.destroy();
    await this.engine.stop();
  }

  async startService(waitReady = true): Promise<void> {
    this.service = await this.lab.startService({ ...this.options, waitReady });
  }

  body(rest: object = {}): object {
    return { eni: { macAddress: this.eni.mac }, dhcp: false, ...rest };
  }

  async attach(): Promise<Network> {
    const { status, body } = await this.service.post('web', this.body());
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  }

  /** The link is there again, as it was at first, wherever it went. */
  async renewEni(): Promise<void> {
    const { hostName, mac } = this.eni;
    await this.eni.detach();
    this.eni = await this.lab.createEni({ hostName, mac });
  }

  /** The state of the task; `absent` when it has no network. */
  async state(taskId = 'web'): Promise<string> {
    const { status, body } = await this.service.get(taskId);
    return status === 404 ? 'absent' : body.state;
  }

  /** What /readyz says of Docker. */
  async docker(): Promise<string> {
    const { body } = await this.service.api<{ parts: Record<string, { status: string }> }>('GET', '/readyz');
    return body.parts['docker']?.status ?? '';
  }

  pauses(): Promise<string> {
    return this.engine.docker('ps', '--all', '--quiet', '--filter', `label=task-eni.instance=${this.lab.id}`);
  }

  /** The engine is killed at the next such moment, as kill-at.mjs names it. */
  async killEngineAt(moment: string): Promise<void> {
    writeFileSync(killFile(this.lab), `${moment}\n${await this.engine.pid()}`);
  }

  async everything(): Promise<Record<string, unknown>> {
    rmSync(killFile(this.lab), { force: true });
    const { tasks: _, ...found } = await everythingOf(this.lab, this.service);
    return { ...found, pauses: await this.pauses() };
  }
}

const killFile = (lab: Lab) => `${lab.directory}/kill-at`;
