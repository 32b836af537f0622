import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { GeneratedClient } from './generated-client.js';

let client: GeneratedClient;
beforeAll(async () => {
  client = await GeneratedClient.generate();
  await client.copy('agent.ts');
  await client.compile();
});
afterAll(() => client?.remove());

describe("an agent with a client generated from the API's document", () => {
  let lab: Lab;
  let service: ServiceProcess;
  let eni: Eni;

  /** The agent runs beside the service, on the host, and speaks TCP with the token. */
  const agent = async <T>(verb: string, argument = '', body?: unknown): Promise<T> => {
    const options = { env: { TOKEN_FILE: `${lab.directory}/run/token` } };
    const program = [client.compiled('agent.ts'), verb, argument, body === undefined ? '' : JSON.stringify(body)];
    return JSON.parse(await lab.host.runWith(options, process.execPath, ...program)) as T;
  };
  const request = () => ({ eni: { id: eni.id }, labels: { service: 'web' } });
  const pushed = {
    source: 'pushed',
    roleArn: 'arn:aws:iam::123456789012:role/app',
    accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    sessionToken: 'AQoDYXdzEJr1K2EXAMPLETOKEN',
    expiration: '2098-11-30T12:00:00Z',
  };

  beforeAll(async () => {
    lab = await Lab.create({ name: 'typed agent' });
    service = await lab.startService();
    eni = await lab.createEni();
  });
  afterAll(async () => {
    await service?.stop();
    await lab?.destroy();
  });

  it('is kept by the compiler from what the service would refuse', async () => {
    await client.copy('mistakes.ts');
    await client.compile();
  });

  it('attaches without waiting at the connection, and learns what its containers are started with', async () => {
    const { networkMode, ...attached } = await agent<{ networkMode: string }>('attach', 'web-1', request());
    expect(attached).toEqual({
      status: 202,
      location: '/tasks/web-1/network',
      state: 'READY',
      environment: { AWS_REGION: 'us-west-2', AWS_DEFAULT_REGION: 'us-west-2', AWS_EC2_METADATA_DISABLED: 'true' },
      error: null,
    });
    expect(networkMode).toMatch(/^ns:\/run\/netns\//);
    expect(await new Inside(networkMode.replace('ns:', '')).link('eth0')).toMatchObject({ address: eni.mac });
  });

  it('is told the same when it asks again, and that nothing has drifted', async () => {
    expect(await agent('attach', 'web-1', request())).toMatchObject({ status: 200, state: 'READY' });
    expect(await agent('read', 'web-1')).toMatchObject({ taskId: 'web-1', eni: { macAddress: eni.mac }, drift: [] });
  });

  it('finds its tasks by their label, and how many more ENIs the host can have', async () => {
    expect(await agent('list', 'service=web')).toEqual(['web-1']);
    expect(await agent('list', 'service=worker')).toEqual([]);
    expect(await agent('capacity')).toMatchObject({ limit: 3, tasks: 1 });
  });

  it('pushes credentials that the task then fetches, and takes them away again', async () => {
    const { relativeUri, ...said } = await agent<{ relativeUri: string }>('push', 'web-1', pushed);
    expect(said).toEqual({ source: 'pushed', roleArn: pushed.roleArn, expiration: pushed.expiration });
    const { netns } = (await agent<{ sandbox: { netns: string } }>('read', 'web-1')).sandbox;
    const fetched = () =>
      new Inside(netns).run('curl', '-sS', '-w', '\n%{http_code}', `http://169.254.170.2${relativeUri}`);
    expect(await fetched()).toContain(pushed.secretAccessKey);
    expect(await agent('take-away', 'web-1')).toBe(204);
    expect(await fetched()).toMatch(/InvalidIdInRequest[^]*\n400$/);
  });

  it('knows by the code of a problem what to do next', async () => {
    const other = { eni: { id: eni.id }, labels: { service: 'worker' } };
    expect(await agent('attach', 'web-1', other)).toEqual({ code: 'task-exists', remedy: 'detach first' });
    expect(await agent('attach', 'web-2', request())).toEqual({ code: 'eni-in-use', remedy: 'detach first' });
    expect(await agent('read', 'web-2')).toEqual({ code: 'task-not-found', remedy: 'attach first' });
    const bad = { eni: { id: eni.id, mtu: 99 } };
    expect(await agent('attach', 'web-2', bad)).toEqual({ code: 'invalid-request', remedy: 'mend eni.mtu' });
  });

  it('detaches, and nothing is wrong when there was nothing', async () => {
    const detached = await agent('detach', 'web-1');
    expect(detached).toMatchObject({ state: 'DETACHED', eni: { hostInterface: eni.hostName } });
    expect(await agent('detach', 'web-1')).toBeNull();
    expect(await agent('list', 'service=web')).toEqual([]);
  });
});
