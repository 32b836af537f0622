/** All of the credentials' control side, as the service wires it, with a server in a world made by hand. */
import type { AssumeRoleRequest } from '../../src/attachments/request.js';
import { PushedStore } from '../../src/credentials/pushed-store.js';
import type { ServedCredentials } from '../../src/credentials/server/messages.js';
import { type RoleRequest, StsSource } from '../../src/credentials/sts.js';
import { TaskCredentials } from '../../src/credentials/task-credentials.js';
import { account } from '../lab/credentials.js';
import { BridgeWorld } from './bridge-world.js';
import { RunningServer } from './running-server.js';

export class RunningCredentials extends RunningServer {
  readonly outcomes: string[] = [];
  /** Every secret that STS gave. */
  readonly secrets: string[] = [];
  private source = new StsSource(() => Promise.resolve(null));
  credentials = this.create();

  static override async start(): Promise<RunningCredentials> {
    const running = new RunningCredentials(await BridgeWorld.make());
    await running.server.start();
    await running.server.complete();
    return running;
  }

  get runDir(): string {
    return `${this.world.folder}/run`;
  }

  role(name: string, changes: Partial<AssumeRoleRequest> = {}): AssumeRoleRequest {
    const roleArn = `arn:aws:iam::${account}:role/${name}`;
    const defaults = { sessionName: null, durationSeconds: 3600, externalId: null, tags: {} };
    return { source: 'assume-role', roleArn, ...defaults, ...changes };
  }

  /** A service that knows nothing yet but what lies in the folder, and has a new client of STS. */
  restart(): void {
    this.credentials.stop();
    this.source.close();
    this.outcomes.length = 0;
    this.source = new StsSource(() => Promise.resolve(null));
    this.credentials = this.create();
  }

  private create(): TaskCredentials {
    return new TaskCredentials({
      server: this.server,
      source: { assume: (request) => this.assume(request) },
      store: new PushedStore(this.runDir, 'task-eni'),
      logger: this.logger(),
      onRefresh: (outcome) => this.outcomes.push(outcome),
    });
  }

  private async assume(request: RoleRequest): Promise<ServedCredentials> {
    const credentials = await this.source.assume(request);
    this.secrets.push(credentials.secretAccessKey, credentials.sessionToken);
    return credentials;
  }

  override async stop(): Promise<void> {
    this.credentials.stop();
    this.source.close();
    await super.stop();
  }
}
