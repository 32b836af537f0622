import { ControlledProcess } from './controlled-process.js';
import { account, hostRole, region } from './credentials.js';
import type { Lab } from './lab.js';
import type { Fault } from './servers/faults.js';
import type { StsCall } from './servers/sts-server.js';
import type { Principal, RolePolicy } from './servers/sts-state.js';
import { vpc } from './vpc.js';

export type { Principal, RolePolicy, StsCall };

const port = 4566;

/** STS at the router's address, so that host and tasks reach it alike. It checks signatures by itself and knows the host's credentials and those it issued. */
export class Sts {
  readonly url = `http://${vpc.gateway}:${port}`;
  private readonly server: ControlledProcess;
  private constructor(server: ControlledProcess) {
    this.server = server;
  }

  static async start(lab: Lab): Promise<Sts> {
    const sts = new Sts(await ControlledProcess.start(lab.vpc, 'sts-server', lab.directory, [String(port)]));
    const { accessKeyId, secretAccessKey, token } = hostRole.credentials;
    await sts.know({
      arn: `arn:aws:sts::${account}:assumed-role/${hostRole.name}/i-lab`,
      userId: 'AROALABHOST0000000001:i-lab',
      account,
      accessKeyId,
      secretAccessKey,
      sessionToken: token,
      expires: null,
    });
    return sts;
  }

  /** For a service or a task's program, so that its SDK comes here. The AWS CLI of Debian 12 (2.9) does not read the endpoint: it needs `--endpoint-url`. */
  environment(): Record<string, string> {
    return { AWS_ENDPOINT_URL_STS: this.url, AWS_REGION: region, AWS_DEFAULT_REGION: region };
  }

  /** A caller of the test's, e.g. a user with long-lived keys, who may ask for more than an hour. */
  know(principal: Principal): Promise<void> {
    return this.server.call('know', principal);
  }
  /** AccessDenied from now on. Every role may be assumed that nothing is said about. */
  refuse(roleArn: string): Promise<void> {
    return this.server.call('setPolicy', roleArn, { refused: true });
  }
  allow(roleArn: string, policy: RolePolicy = {}): Promise<void> {
    return this.server.call('setPolicy', roleArn, policy);
  }
  /** Seconds that credentials issued from now on live, whatever is asked for; null: as asked for. */
  setLifetime(seconds: number | null): Promise<void> {
    return this.server.call('setLifetime', seconds);
  }

  /** `error` (500), `hang` or `delay`, for the action named by `key` or for all. Gives a number for {@link heal}. */
  fail(fault: Omit<Fault, 'mac' | 'kind'> & { kind: 'error' | 'hang' | 'delay' }): Promise<number> {
    return this.server.call('fail', fault);
  }
  heal(id?: number): Promise<void> {
    return this.server.call('heal', id ?? null);
  }

  calls(): Promise<StsCall[]> {
    return this.server.call('calls');
  }
  resetCalls(): Promise<void> {
    return this.server.call('resetCalls');
  }

  /** Nothing listens any more. */
  stop(): Promise<void> {
    return this.server.stop();
  }
}
