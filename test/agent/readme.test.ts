import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Sts } from '../lab/sts.js';
import { GeneratedClient } from './generated-client.js';

/** The README's block of the language that has the words in it. */
async function blockOf(language: string, words: string): Promise<string> {
  const readme = await readFile(inCheckout('README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
  const found = blocks.find(([, name, text]) => name === language && text?.includes(words));
  if (found?.[2] === undefined) throw new Error(`README.md has no ${language} block with: ${words}`);
  return found[2];
}

/** What the containers of the guide's task do: all that they know of their credentials is in their environment. */
const program = 'wget -q -O - "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" && ip -o address';
const jq = ['/usr/bin/jq', '/usr/local/bin/jq'].some((file) => existsSync(file));

describe('the guide for agents in the README', () => {
  let engine: DockerEngine;
  let lab: Lab;
  let service: ServiceProcess;
  let byId: Eni;
  let byMac: Eni;
  let work: string;

  beforeAll(async () => {
    engine = await DockerEngine.start();
    lab = await Lab.create({ name: 'readme' });
    const sts = await Sts.start(lab);
    const env = { ...(await engine.serviceEnvironment()), ...sts.environment(), TASK_ENI_ENI_WAIT_SECONDS: '1' };
    service = await lab.startService({ env });
    byId = await lab.createEni({ id: 'eni-0123456789abcdef0', attach: false });
    byMac = await lab.createEni({ mac: '02:00:00:00:00:01' });
    work = await mkdtemp(`${tmpdir()}/task-eni-readme-`);
    const template = await engine.docker('create', await engine.importImage('app'));
    const start = `CMD ${JSON.stringify(['sh', '-c', program])}`;
    await engine.docker('commit', '--change', start, template, 'my-image');
    await engine.docker('rm', template);
  });
  afterAll(async () => {
    const left = await containers();
    if (left.length > 0) await engine.docker('rm', '--force', ...left);
    await engine?.docker('rmi', '--force', 'my-image');
    await service?.stop();
    await lab?.destroy();
    await engine?.stop();
    await rm(work, { recursive: true, force: true });
  });

  const containers = async () =>
    (await engine.docker('ps', '--all', '--quiet', '--filter', 'ancestor=my-image')).split('\n').filter(Boolean);

  /** As written, but for the place of the lab's socket; on the host, by a plain shell. */
  const runShell = async () => {
    const block = await blockOf('sh', 'docker run');
    const script = block.replaceAll('/run/task-eni/api.sock', service.socket);
    const options = { env: { ...engine.environment(), PATH: process.env['PATH'] ?? '' }, cwd: work };
    return lab.host.runWith(options, 'sh', '-c', script);
  };

  it.runIf(jq)('stops at the first thing that is refused, with the reason kept and no container started', async () => {
    await expect(runShell()).rejects.toThrow(/ended with 22: .*504/);
    expect(JSON.parse(await readFile(`${work}/web-1.json`, 'utf8'))).toMatchObject({ code: 'eni-timeout' });
    expect(await containers()).toEqual([]);
  });

  it.runIf(jq)("runs a container on the task's ENI, with its role's credentials, and gives the ENI back", async () => {
    await byId.attach();
    const output = await runShell();
    const [exitCode, ...answer] = output.split('\n');
    expect(exitCode).toBe('0');
    expect(JSON.parse(answer.join('\n'))).toMatchObject({ state: 'DETACHED', eni: { hostInterface: byId.hostName } });
    const [container = ''] = await containers();
    const printed = await engine.docker('logs', container);
    expect(printed).toContain('"RoleArn":"arn:aws:iam::123456789012:role/app"');
    expect(printed).toContain(`inet ${byId.ipv4Address}`);
  });

  it('has TypeScript that compiles under strict rules and attaches', async () => {
    const client = await GeneratedClient.generate();
    try {
      const block = await blockOf('ts', 'openapi-fetch');
      await client.write('guide.ts', block.replaceAll('/run/task-eni/token', `${lab.directory}/run/token`));
      await client.compile();
      const printed = await lab.host.run(process.execPath, client.compiled('guide.ts'));
      expect(printed).toMatch(/^container:[0-9a-f]{64} \{/);
    } finally {
      await client.remove();
    }
    const gone = await service.del('web-1');
    expect(gone.body).toMatchObject({ state: 'DETACHED', eni: { macAddress: byMac.mac } });
  });
});
