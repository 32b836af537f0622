/** The lab's STS, made reachable for this process and for tasks on a bridge made by hand, each by a relay of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { hostRole, region } from '../lab/credentials.js';
import { Lab } from '../lab/lab.js';
import { Sts } from '../lab/sts.js';
import type { TaskNamespace } from './bridge-world.js';

const relay = new URL('clients/relay.mjs', import.meta.url).pathname;
const port = 4566;

const variables = [
  'AWS_ENDPOINT_URL_STS',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_EC2_METADATA_DISABLED',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
];

export class LabSts {
  private readonly former = variables.map((name) => [name, process.env[name]] as const);
  private readonly relays: ChildProcess[] = [];
  private near: Server | undefined;

  private constructor(
    private readonly lab: Lab,
    readonly sts: Sts,
  ) {}

  /** Sets this process's environment so that the SDK finds the STS and, as host, the host's role. */
  static async start(): Promise<LabSts> {
    const lab = await Lab.create({ ipv6: false });
    const labSts = new LabSts(lab, await Sts.start(lab));
    await labSts.relay(lab.vpc.path, { path: labSts.socket }, { host: '127.0.0.1', port });
    const server = createServer((near) => {
      const far = connect({ path: labSts.socket });
      near.pipe(far).pipe(near);
      near.on('error', () => far.destroy());
      far.on('error', () => near.destroy());
    });
    labSts.near = server;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    labSts.setEnvironment((server.address() as AddressInfo).port);
    return labSts;
  }

  /** The STS at 127.0.0.1 inside the task; gives its URL. */
  async reachableIn(task: TaskNamespace): Promise<string> {
    await this.relay(`/run/netns/${task.name}`, { host: '127.0.0.1', port }, { path: this.socket });
    return `http://127.0.0.1:${port}`;
  }

  /** Other credentials of the host than its role's. */
  useKeys(keys: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }): void {
    process.env['AWS_ACCESS_KEY_ID'] = keys.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = keys.secretAccessKey;
    if (keys.sessionToken === undefined) delete process.env['AWS_SESSION_TOKEN'];
    else process.env['AWS_SESSION_TOKEN'] = keys.sessionToken;
  }

  async stop(): Promise<void> {
    for (const [name, value] of this.former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    for (const child of this.relays) child.stdin?.end();
    this.near?.close();
    await this.lab.destroy();
  }

  private get socket(): string {
    return `${this.lab.directory}/sts.sock`;
  }

  private setEnvironment(nearPort: number): void {
    const { accessKeyId, secretAccessKey, token } = hostRole.credentials;
    process.env['AWS_ENDPOINT_URL_STS'] = `http://127.0.0.1:${nearPort}`;
    process.env['AWS_REGION'] = region;
    process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
    process.env['AWS_SHARED_CREDENTIALS_FILE'] = '/nonexistent';
    process.env['AWS_CONFIG_FILE'] = '/nonexistent';
    this.useKeys({ accessKeyId, secretAccessKey, sessionToken: token });
  }

  private async relay(namespace: string, listen: object, target: object): Promise<void> {
    const options = JSON.stringify({ listen, connect: target });
    const args = [`--net=${namespace}`, '--', process.execPath, relay, options];
    const child = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.relays.push(child);
    await once(child.stdout, 'data');
  }
}
