import type { STSClient } from '@aws-sdk/client-sts';
import type { AssumeRoleRequest } from '../attachments/request.js';
import { TaskEniError } from '../errors.js';
import type { ServedCredentials } from './server/messages.js';
import { sessionName } from './session-name.js';
import { classifyStsError } from './sts-error.js';

/** Milliseconds for all attempts of one request together. */
const patience = 15_000;
const connectPatience = 3_000;
const answerPatience = 6_000;
/** Seconds; a role that was assumed with another role's credentials lasts no longer (IAM User Guide, role chaining). */
const longestChained = 3600;

export interface RoleRequest {
  readonly taskId: string;
  readonly role: AssumeRoleRequest;
  readonly signal: AbortSignal;
}

/**
 * Assumes roles with the host's own credentials, which, like the endpoint, are found as by every AWS SDK. The SDK is loaded
 * with the first role, so that the service starts without it.
 */
export class StsSource {
  private client: Promise<STSClient> | undefined;

  /** `region` gives the one to ask in; when it has none either, the SDK looks into its shared configuration. */
  constructor(private readonly region: () => Promise<string | null>) {}

  /** Throws `credentials-refused` or `credentials-timeout`, with the cause in words, or the signal's reason once that is aborted. */
  async assume({ taskId, role, signal }: RoleRequest): Promise<ServedCredentials> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
    try {
      return await this.request(taskId, role, deadline);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TaskEniError) throw error;
      // The SDK's error carries the request with its headers: it goes no further.
      const { kind, cause } = classifyStsError(error);
      if (kind === 'refused') throw refused(taskId, `${role.roleArn} was refused: ${cause}`);
      throw new TaskEniError('credentials-timeout', `STS did not answer for ${role.roleArn}: ${cause}`, { taskId });
    }
  }

  close(): void {
    void this.client?.then((client) => client.destroy());
  }

  private async request(taskId: string, role: AssumeRoleRequest, abortSignal: AbortSignal): Promise<ServedCredentials> {
    const { AssumeRoleCommand } = await import('@aws-sdk/client-sts');
    const client = await this.connect();
    if (role.durationSeconds > longestChained) await this.refuseChaining(client, taskId, abortSignal);
    const command = new AssumeRoleCommand({
      RoleArn: role.roleArn,
      RoleSessionName: role.sessionName ?? sessionName(taskId),
      DurationSeconds: role.durationSeconds,
      ...(role.externalId === null ? {} : { ExternalId: role.externalId }),
      Tags: Object.entries(role.tags).map(([Key, Value]) => ({ Key, Value })),
    });
    const { Credentials } = await client.send(command, { abortSignal });
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || Expiration === undefined)
      throw new TaskEniError('credentials-timeout', `STS answered for ${role.roleArn} without credentials`, { taskId });
    return {
      roleArn: role.roleArn,
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      expiration: Expiration.getTime(),
    };
  }

  /** STS refuses it too, but in words that do not say whose role is meant. */
  private async refuseChaining(client: STSClient, taskId: string, abortSignal: AbortSignal): Promise<void> {
    const own = await client.config.credentials();
    if (own.sessionToken === undefined) return;
    const { GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
    const { Arn } = await client.send(new GetCallerIdentityCommand({}), { abortSignal });
    if (!/^arn:[^:]+:sts::\d+:assumed-role\//.test(Arn ?? '')) return;
    throw refused(
      taskId,
      `durationSeconds above ${longestChained} is not possible: the host's own credentials are those of a role, ${Arn}, and ` +
        'a role assumed from another one lasts an hour at most (role chaining)',
    );
  }

  private connect(): Promise<STSClient> {
    this.client ??= this.create().catch((error: unknown) => {
      this.client = undefined;
      throw error;
    });
    return this.client;
  }

  private async create(): Promise<STSClient> {
    const { STSClient } = await import('@aws-sdk/client-sts');
    const requestHandler = {
      connectionTimeout: connectPatience,
      requestTimeout: answerPatience,
      throwOnRequestTimeout: true,
    };
    const region = await this.region();
    return new STSClient({ requestHandler, ...(region === null ? {} : { region }) });
  }
}

function refused(taskId: string, sentence: string): TaskEniError {
  return new TaskEniError('credentials-refused', sentence, { taskId });
}
