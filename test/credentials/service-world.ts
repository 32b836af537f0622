/** A lab with STS and the service that is built, and tasks with credentials in it. */
import { readFileSync } from 'node:fs';
import type { Network, NetworkOrProblem } from '../lab/answers.js';
import { run } from '../lab/command.js';
import { account } from '../lab/credentials.js';
import { Lab } from '../lab/lab.js';
import type { Answer, ServiceProcess } from '../lab/service-process.js';
import { Sts } from '../lab/sts.js';
import { type Fetched, type Fetching, fetchInNamespace } from './fetching.js';
import { childrenOf, commandLine } from './running-server.js';

export const roleArn = (name: string) => `arn:aws:iam::${account}:role/${name}`;
export const assumeRole = (name: string) => ({ source: 'assume-role', roleArn: roleArn(name) });
export const pushedFor = (name: string, changes: object = {}) => ({
  source: 'pushed',
  roleArn: roleArn(name),
  accessKeyId: `AKIA${name.toUpperCase()}`.padEnd(20, '0'),
  secretAccessKey: `hush-secret-of-${name}`,
  sessionToken: `hush-token-of-${name}`,
  expiration: '2099-01-01T00:00:00.123Z',
  ...changes,
});

export class ServiceWorld {
  private constructor(
    readonly lab: Lab,
    readonly sts: Sts,
    readonly env: Record<string, string>,
    public service: ServiceProcess,
  ) {}

  static async make(changes: Record<string, string> = {}): Promise<ServiceWorld> {
    const lab = await Lab.create({ ipv6: false });
    try {
      const sts = await Sts.start(lab);
      const env = { ...sts.environment(), TASK_ENI_DHCP_CLIENT: 'off', TASK_ENI_MAX_ENIS: '500', ...changes };
      return new ServiceWorld(lab, sts, env, await lab.startService({ env }));
    } catch (error) {
      await lab.destroy();
      throw error;
    }
  }

  /** Starts it again, whatever became of the one before. */
  async serveAgain(): Promise<void> {
    this.service = await this.lab.startService({ env: this.env });
  }

  async post(taskId: string, credentials: object, more: object = {}): Promise<Answer<NetworkOrProblem>> {
    const eni = await this.lab.createEni();
    return this.service.post(taskId, { eni: { id: eni.id }, credentials, ...more });
  }

  async attach(taskId: string, credentials: object, more: object = {}): Promise<Network> {
    const { status, body } = await this.post(taskId, credentials, more);
    if (status !== 201) throw new Error(`${taskId}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  put<T>(taskId: string, credentials: object): Promise<Answer<T>> {
    return this.service.api('PUT', `/tasks/${taskId}/credentials`, credentials);
  }

  deleteCredentials(taskId: string): Promise<Answer<null>> {
    return this.service.api('DELETE', `/tasks/${taskId}/credentials`);
  }

  /** The process that serves credentials. */
  serverPid(): number {
    const pid = childrenOf(this.service.pid).find((each) => /credentials\/server\/main\.js/.test(commandLine(each)));
    if (pid === undefined) throw new Error('the service has no credentials server');
    return pid;
  }

  auditLines(): Record<string, unknown>[] {
    const text = readFileSync(`${this.lab.directory}/audit.log`, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

/** Fetches the credentials of `whose` from inside the task. */
export function fetchAs(task: Network, whose = task, how: Fetching = {}): Promise<Fetched> {
  return fetchInNamespace(task.sandbox.netns, whose.credentials.relativeUri, how);
}

export function runInTask(task: Network, ...command: string[]): Promise<string> {
  return run('nsenter', [`--net=${task.sandbox.netns}`, '--', ...command]);
}
