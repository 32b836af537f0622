import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DockerEngine } from '../lab/docker-engine.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

const dns = {
  servers: ['172.31.0.2', '2001:db8:1::53'],
  search: ['ec2.internal', 'example.com'],
  hostname: 'ip-172-31-1-2',
};

describe('dns of a request', () => {
  let engine: DockerEngine;
  let lab: Lab;
  let service: ServiceProcess;

  beforeAll(async () => {
    engine = await DockerEngine.start();
    lab = await Lab.create({ name: 'dns' });
  });
  afterAll(async () => {
    await service?.stop();
    await lab?.destroy();
    await engine?.stop();
  });

  it("is in the files of a container that joins the pause container, with the ENI's address under the hostname", async () => {
    service = await lab.startService({ env: await engine.serviceEnvironment() });
    const eni = await lab.createEni();
    const { status, body } = await service.post('web', { eni: { macAddress: eni.mac }, dns, dhcp: false });
    expect(status, JSON.stringify(body)).toBe(201);
    const app = await engine.importImage('app');
    const shell = 'cat /etc/resolv.conf; echo ---; cat /etc/hosts; echo ---; hostname';
    const joined = ['run', '--rm', '--network', body.networkMode, app, 'sh', '-c', shell];
    const [resolver = '', hosts = '', hostname = ''] = (await engine.docker(...joined)).split('---\n');
    expect(resolver).toMatch(/^nameserver 172\.31\.0\.2$/m);
    expect(resolver).toMatch(/^nameserver 2001:db8:1::53$/m);
    expect(resolver).toMatch(/^search ec2\.internal example\.com$/m);
    expect(hosts).toMatch(new RegExp(`^${eni.ipv4Address.split('/')[0]}\\s+ip-172-31-1-2$`, 'm'));
    expect(hostname.trim()).toBe('ip-172-31-1-2');
    expect((await service.del('web')).status).toBe(200);
    await service.stop();
  });

  it("is under /etc/netns for a bare namespace, as long as the task lives, and the host's own files stay as they are", async () => {
    const before = await readFile('/etc/resolv.conf', 'utf8');
    service = await lab.startService();
    const eni = await lab.createEni();
    const { body } = await service.post('web', { eni: { macAddress: eni.mac }, dns, dhcp: false });
    const folder = `/etc/netns/${basename(body.sandbox.netns)}`;
    const resolver = await readFile(`${folder}/resolv.conf`, 'utf8');
    expect(resolver).toMatch(/^nameserver 172\.31\.0\.2$/m);
    expect(resolver).toMatch(/^nameserver 2001:db8:1::53$/m);
    expect(resolver).toMatch(/^search ec2\.internal example\.com$/m);
    const hosts = await readFile(`${folder}/hosts`, 'utf8');
    expect(hosts).toMatch(new RegExp(`^${eni.ipv4Address.split('/')[0]}\\s+ip-172-31-1-2$`, 'm'));
    expect((await service.del('web')).status).toBe(200);
    await expect(stat(folder)).rejects.toThrow(/ENOENT/);
    expect(await readFile('/etc/resolv.conf', 'utf8')).toBe(before);
  });
});
