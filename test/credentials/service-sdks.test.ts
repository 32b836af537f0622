import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { account } from '../lab/credentials.js';
import { DockerEngine } from '../lab/docker-engine.js';
import { ServiceWorld, assumeRole } from './service-world.js';

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const arn = `arn:aws:sts::${account}:assumed-role/app/web`;

/** The three SDKs, with the STS of the lab for an endpoint; all else they must find by themselves. */
function programs(endpoint: string): Record<string, string[]> {
  const boto = `import boto3; print(boto3.client('sts', endpoint_url='${endpoint}').get_caller_identity()['Arn'])`;
  const js = `
    import { STSClient, GetCallerIdentityCommand } from '@aws-sdk/client-sts';
    const client = new STSClient({ endpoint: '${endpoint}' });
    console.log((await client.send(new GetCallerIdentityCommand())).Arn);`;
  const cli = ['sts', 'get-caller-identity', '--query', 'Arn', '--output', 'text'];
  return {
    'the AWS CLI': ['/usr/bin/aws', '--endpoint-url', endpoint, ...cli],
    boto3: ['/usr/bin/python3', '-c', boto],
    'the SDK for JavaScript': [process.execPath, '--input-type=module', '-e', js],
  };
}

const names = Object.keys(programs(''));

describe('in a bare namespace', () => {
  let world: ServiceWorld;
  let task: Network;
  beforeAll(async () => {
    world = await ServiceWorld.make();
    task = await world.attach('web', assumeRole('app'));
  });
  afterAll(() => world?.lab.destroy());

  it.each(names)('%s is the task', async (name) => {
    const command = programs(world.sts.url)[name] ?? [];
    const env = { PATH: path, ...task.environment };
    const args = [`--net=${task.sandbox.netns}`, '--', ...command];
    expect((await run('nsenter', args, { env, cwd: inCheckout('.') })).trim()).toBe(arn);
  });
});

describe("in a container on the pause's namespace", () => {
  let engine: DockerEngine;
  let world: ServiceWorld;
  let task: Network;
  beforeAll(async () => {
    engine = await DockerEngine.start();
    world = await ServiceWorld.make(await engine.serviceEnvironment());
    task = await world.attach('web', assumeRole('app'));
  });
  afterAll(async () => {
    await world?.service.del('web', { force: true });
    await world?.lab.destroy();
    await engine?.stop();
  });

  it.each(names)('%s is the task', async (name) => {
    const image = await engine.importImage('app');
    // The programs are the machine's own, seen read-only.
    const folders = [
      '/usr:/usr',
      '/usr/lib:/lib',
      '/usr/lib64:/lib64',
      `${inCheckout('node_modules')}:/app/node_modules`,
    ];
    const environment = Object.entries({ PATH: path, ...task.environment }).flatMap(([key, value]) => [
      '-e',
      `${key}=${value}`,
    ]);
    const container = [
      'run',
      '--rm',
      '--name',
      `tecred-${randomUUID()}`,
      '--network',
      task.networkMode,
      '--workdir',
      '/app',
    ];
    const mounts = folders.flatMap((folder) => ['-v', `${folder}:ro`]);
    const command = programs(world.sts.url)[name] ?? [];
    const said = await engine.docker(...container, ...mounts, ...environment, image, ...command);
    expect(said).toBe(arn);
  });
});
