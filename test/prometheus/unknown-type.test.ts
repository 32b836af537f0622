import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

describe('a host of a type that no table has, and that EC2 cannot be asked about', () => {
  let lab: Lab;
  let service: ServiceProcess;

  beforeAll(async () => {
    lab = await Lab.create({ instanceType: 'zz9.large', ipv6: false, name: 'unknown type' });
    service = await lab.startService({ env: { AWS_ENDPOINT_URL_EC2: 'http://127.0.0.1:9' } });
  });

  afterAll(async () => {
    await service?.stop();
    await lab?.destroy();
  });

  it('attaches, counts what it has, and claims no limit', async () => {
    const eni = await lab.createEni();
    const { status } = await service.post('task-1', { eni: { macAddress: eni.mac }, dhcp: false });
    expect(status).toBe(201);
    const { body: metrics } = await service.api<string>('GET', '/metrics');
    expect(metrics).toMatch(/^task_eni_eni_attached 2$/m);
    expect(metrics).not.toMatch(/^task_eni_eni_limit/m);
    expect(metrics).not.toMatch(/^task_eni_eni_available/m);
    expect(metrics).toMatch(/^task_eni_host_info\{.*limit_source="unknown".*\} 1$/m);
  });

  it('says why, to whoever asks and once in the log', async () => {
    const said = () => service.logs().filter(({ msg }) => msg === 'the ENI limit of this host is not known');
    await expect.poll(said, { timeout: 20_000 }).toHaveLength(1);
    const host = await service.api<{ eni: Record<string, unknown> }>('GET', '/host');
    expect(host.body.eni).toMatchObject({
      limit: null,
      limitSource: null,
      limitCause: expect.stringMatching(/^zz9\.large is not in the table, and EC2 could not be asked: /),
      attached: 2,
      available: null,
    });
    expect(said()).toHaveLength(1);
  });
});
