import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskId } from '../../src/attachments/task-id.js';
import { account, region } from '../lab/credentials.js';
import type { TaskNamespace } from './bridge-world.js';
import { run } from '../lab/command.js';
import { LabSts } from './lab-sts.js';
import { RunningCredentials } from './running-credentials.js';

const checkout = new URL('../..', import.meta.url).pathname;

/** What each SDK is given: where the credentials are, and nothing else. */
describe('in a task with only AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', () => {
  let labSts: LabSts;
  let running: RunningCredentials;
  let task: TaskNamespace;
  let endpoint: string;

  beforeAll(async () => {
    labSts = await LabSts.start();
    running = await RunningCredentials.start();
    task = await running.world.addTask();
    endpoint = await labSts.reachableIn(task);
    await running.credentials.register({
      taskId: 'web:1' as TaskId,
      hash: 'hash',
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      address: task.address,
      credentials: running.role('app'),
    });
  });
  afterAll(async () => {
    await running.stop();
    await labSts.stop();
  });

  /** Another endpoint of STS is the one thing that the lab has to say beside it. */
  function runSdk(command: string, ...args: string[]): Promise<string> {
    const env = {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/0f8fad5b-d9cb-469f-a165-70867728950e',
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    return run('nsenter', [`--net=/run/netns/${task.name}`, '--', command, ...args], { env, cwd: checkout });
  }
  const arn = `arn:aws:sts::${account}:assumed-role/app/web-1`;

  it('the AWS CLI is the task', async () => {
    const said = await runSdk('/usr/bin/aws', '--endpoint-url', endpoint, 'sts', 'get-caller-identity');
    expect(JSON.parse(said)).toMatchObject({ Arn: arn, Account: account });
  });

  it('boto3 is the task', async () => {
    const script = `import boto3; print(boto3.client('sts', endpoint_url='${endpoint}').get_caller_identity()['Arn'])`;
    expect((await runSdk('/usr/bin/python3', '-c', script)).trim()).toBe(arn);
  });

  it('the SDK for JavaScript is the task', async () => {
    const script = `
      import { STSClient, GetCallerIdentityCommand } from '@aws-sdk/client-sts';
      const client = new STSClient({ endpoint: '${endpoint}' });
      console.log((await client.send(new GetCallerIdentityCommand())).Arn);`;
    expect((await runSdk(process.execPath, '--input-type=module', '-e', script)).trim()).toBe(arn);
  });

  it('each has fetched once, as the task', async () => {
    await expect.poll(() => running.auditLines()).toHaveLength(3);
    for (const line of running.auditLines())
      expect(line).toMatchObject({ code: 200, taskId: 'web:1', path: '/v2/credentials' });
  });
});
