import { readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from './lab.js';

/** Stands where the product stands, and tells what it was given. */
const standIn = `
import { createServer } from 'node:http';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
if (process.env.BROKEN) throw new Error('broken as ordered');
const socket = process.env.TASK_ENI_API_SOCKET;
mkdirSync(dirname(socket), { recursive: true });
rmSync(socket, { force: true });
const birth = Date.now();
console.log(JSON.stringify({ level: 30, msg: 'started', argv: process.argv.slice(2), env: process.env }));
console.log('not JSON');
createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const ready = request.url !== '/readyz' || Date.now() > birth + 300;
    response.writeHead(ready ? 200 : 503, { 'Content-Type': 'application/problem+json' });
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, text: Buffer.concat(chunks).toString() }));
  });
}).listen(socket);
process.on('SIGTERM', () => process.exit(7));
`;

interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  text: string;
}

describe('the service as a lab starts it', () => {
  let lab: Lab;
  let entry: string;
  beforeAll(async () => {
    lab = await Lab.create();
    entry = `${lab.directory}/stand-in.mjs`;
    await writeFile(entry, standIn);
  });
  afterAll(() => lab.destroy());

  it("stands in the host's network and the machine's mount namespace, with nothing of the caller's environment", async () => {
    process.env['AWS_PROFILE'] = 'mine';
    const service = await lab.startService({ entry, env: { EXTRA: 'yes' } });
    const network = (await stat(lab.host.path)).ino;
    expect(await readlink(`/proc/${service.pid}/ns/net`)).toBe(`net:[${network}]`);
    expect(await readlink(`/proc/${service.pid}/ns/mnt`)).toBe(await readlink('/proc/self/ns/mnt'));
    expect(service.logs()[0]).toMatchObject({
      msg: 'started',
      argv: ['serve'],
      env: { TASK_ENI_BRIDGE_NETNS: lab.id, TASK_ENI_SANDBOX: 'netns', EXTRA: 'yes' },
    });
    const environment = await readFile(`/proc/${service.pid}/environ`, 'utf8');
    expect(environment).not.toMatch(/AWS_|DOCKER_HOST|VITEST/);
    expect(service.logs()[1]).toEqual({ msg: 'not JSON' });
    await service.stop();
  });

  it('is waited for until it is ready, called over its socket, and stopped with its exit code', async () => {
    const start = performance.now();
    const service = await lab.startService({ entry });
    expect(performance.now() - start).toBeGreaterThan(300);
    const { status, body, headers } = await service.api<Echo>('POST', '/x', { a: 1 }, { Prefer: 'respond-async' });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(body).toMatchObject({ method: 'POST', text: '{"a":1}', headers: { prefer: 'respond-async' } });
    expect((await service.del('a/b', { force: true })).body).toMatchObject({ url: '/tasks/a%2Fb/network?force=true' });
    expect(await service.stop()).toBe(7);
    const again = await lab.startService({ entry });
    await again.kill();
    expect(await again.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('is started by what the test puts before it', async () => {
    const before = ['setpriv', '--bounding-set', '-net_admin'];
    const service = await lab.startService({ entry, before, nodeArgs: ['--max-old-space-size=128'] });
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
    const bounding = BigInt(`0x${/CapBnd:\s*(\w+)/.exec(status)?.[1]}`);
    expect(bounding & (1n << 12n)).toBe(0n);
    expect(await readFile(`/proc/${service.pid}/cmdline`, 'utf8')).toContain('--max-old-space-size=128');
    await service.kill();
  });

  it('shows its log when it does not come up', async () => {
    await expect(lab.startService({ entry, env: { BROKEN: '1' } })).rejects.toThrow(/it ended[^]*broken as ordered/);
  });
});
