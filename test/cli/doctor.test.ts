import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctor } from '../../src/cli/doctor.js';
import type { Finding } from '../../src/cli/finding.js';
import { pinFolder, pinNamespace, unpinNamespace } from '../../src/kernel/pins.js';
import { freePort } from '../api/free-port.js';
import { printed } from './printed.js';

let folder: string;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'task-eni-doctor-'));
  environment = {
    TASK_ENI_API_ADDRESS: `127.0.0.1:${await freePort()}`,
    TASK_ENI_API_SOCKET: join(folder, 'api.sock'),
    TASK_ENI_API_TOKEN_FILE: join(folder, 'token'),
    TASK_ENI_STATE_DIR: join(folder, 'state'),
    TASK_ENI_RUN_DIR: '/dev/shm/task-eni-doctor',
    TASK_ENI_BRIDGE_NETNS: `doctor-${process.pid}`,
    TASK_ENI_SANDBOX: 'netns',
    TASK_ENI_DHCP_CLIENT: 'off',
    // The discard port: nobody listens there.
    AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:9',
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

async function examine(more: NodeJS.ProcessEnv = {}): Promise<{ code: number; findings: Record<string, Finding> }> {
  const { code, out } = await printed(() => doctor({ ...environment, ...more }, true));
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return { code, findings: Object.fromEntries(findings.map((finding) => [finding.name, finding])) };
}

describe('doctor', () => {
  it('tries the kernel, and leaves no namespace behind', async () => {
    const { code, findings } = await examine();
    for (const name of ['privileges', 'network namespaces', 'bridge and veth', 'names', 'token', 'TASK_ENI_RUN_DIR'])
      expect(findings[name]).toMatchObject({ status: 'ok' });
    expect(code).toBe(0);
    expect(readdirSync(pinFolder).filter((name) => name.includes('doctor'))).toEqual([]);
  });

  it('warns of what can be done without', async () => {
    const { code, findings } = await examine({ TASK_ENI_RUN_DIR: join(folder, 'run') });
    expect(findings['instance metadata']).toMatchObject({ status: 'warn', advice: expect.stringContaining('IMDSv2') });
    expect(code).toBe(0);
  });

  it('fails for settings that would stop the start, and names each', async () => {
    const { out, code } = await printed(() =>
      doctor({ TASK_ENI_BRIDGE: 'x'.repeat(20), TASK_ENI_SANDBOX: 'jail' }, false),
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^fail {2}settings {2}TASK_ENI_BRIDGE: /m);
    expect(out).toMatch(/^fail {2}settings {2}TASK_ENI_SANDBOX: /m);
    expect(out).toContain('This host cannot run task-eni: 2 failed.');
  });

  it('fails for a port that another holds, and for a Docker engine that is not there', async () => {
    const server: Server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { code, findings } = await examine({
      TASK_ENI_API_ADDRESS: `127.0.0.1:${port}`,
      TASK_ENI_SANDBOX: 'docker',
      DOCKER_HOST: `unix://${folder}/docker.sock`,
    });
    server.close();
    expect(findings['TASK_ENI_API_ADDRESS']).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('EADDRINUSE'),
    });
    expect(findings['Docker']).toMatchObject({ status: 'fail' });
    expect(code).toBe(1);
  });

  it('fails for a token file that is too open', async () => {
    writeFileSync(join(folder, 'token'), 'long-enough-a-token', { mode: 0o644 });
    const { code, findings } = await examine();
    expect([code, findings['token']]).toEqual([1, expect.objectContaining({ status: 'fail' })]);
  });

  it("adopts a namespace that bears the instance's name", async () => {
    const name = `doctor-${process.pid}`;
    (await pinNamespace(name)).close();
    try {
      const { findings } = await examine();
      expect(findings['names']).toMatchObject({ status: 'ok', detail: expect.stringContaining('adopted') });
    } finally {
      await unpinNamespace(name);
    }
  });
});
