import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { Answer, ServiceProcess } from '../lab/service-process.js';
import type { NetworkOrProblem } from '../lab/answers.js';
import { PrometheusServer } from './prometheus-server.js';
import { promtool } from './promtool.js';

const successes = 'task_eni_attach_duration_seconds_bucket{outcome="success"}';

describe('a real Prometheus that scrapes the service', () => {
  let lab: Lab;
  let service: ServiceProcess;
  let prometheus: PrometheusServer;
  const enis: Eni[] = [];

  const attach = (eni: Eni, more: object = {}): Promise<Answer<NetworkOrProblem>> =>
    service.post(`task-${eni.deviceNumber}`, { eni: { macAddress: eni.mac }, dhcp: false, ...more });

  beforeAll(async () => {
    lab = await Lab.create({ instanceType: 'm5.large', ipv6: false, name: 'prometheus' });
    service = await lab.startService({ env: { TASK_ENI_ENI_WAIT_SECONDS: '14' } });
    prometheus = await PrometheusServer.start(lab, '127.0.0.1:51680');
  });

  afterAll(async () => {
    await prometheus?.stop();
    await service?.stop();
    await lab?.destroy();
  });

  it('finds it up, and the slots of an m5.large', async () => {
    await prometheus.scrapedAgain();
    expect(await prometheus.value('up{job="task-eni"}')).toBe(1);
    expect(await prometheus.value('task_eni_eni_limit')).toBe(3);
    expect(await prometheus.value('task_eni_eni_attached')).toBe(1);
    expect(await prometheus.value('task_eni_eni_available')).toBe(2);
    expect(await prometheus.query('task_eni_host_info')).toMatchObject([
      { metric: { instance_type: 'm5.large', limit_source: 'table' }, value: 1 },
    ]);
  });

  it('sees two quick attaches, and no slot left', async () => {
    for (let count = 0; count < 2; count += 1) enis.push(await lab.createEni());
    for (const eni of enis) expect((await attach(eni)).status).toBe(201);
    // Counted at most two seconds ago, and scraped at most one second ago.
    await expect.poll(() => prometheus.value('task_eni_eni_attached'), { timeout: 5000 }).toBe(3);
    await prometheus.scrapedAgain();
    expect(await prometheus.value('task_eni_eni_available')).toBe(0);
    expect(await prometheus.value('task_eni_tasks{state="READY"}')).toBe(2);
    await expect.poll(() => prometheus.value('instance:task_eni_eni_used:ratio'), { timeout: 10_000 }).toBe(1);
    expect(await prometheus.value(`histogram_quantile(0.5, ${successes})`)).toBeGreaterThan(0);
    expect(await prometheus.value(`histogram_quantile(0.5, ${successes})`)).toBeLessThan(10);
  });

  it('sees where the time of an attach went whose ENI came after 12 s, and the code of one whose ENI never came', async () => {
    const late = await lab.createEni({ attach: false });
    const never = await lab.createEni({ attach: false });
    const answers = Promise.all([attach(late), attach(never)]);
    await sleep(11_500);
    await late.attach();
    expect((await answers).map(({ status }) => status)).toEqual([201, 504]);
    await prometheus.scrapedAgain();
    const below = (le: string) => prometheus.value(successes.replace('}', `, le="${le}"}`));
    expect(await below('10')).toBe(2);
    expect(await below('15')).toBe(3);
    const waits = 'task_eni_step_duration_seconds_bucket{step="wait-for-eni", outcome="done"';
    expect(await prometheus.value(`${waits}, le="10"}`)).toBe(2);
    expect(await prometheus.value(`${waits}, le="15"}`)).toBe(3);
    expect(await prometheus.value(`histogram_quantile(0.99, ${successes})`)).toBeGreaterThan(10);
    expect(await prometheus.value('task_eni_attach_failures_total{code="eni-timeout"}')).toBe(1);
    expect(await prometheus.value('task_eni_attach_duration_seconds_count{outcome="failure"}')).toBe(1);
    expect(await prometheus.value('task_eni_tasks{state="FAILED"}')).toBe(1);
  });

  it('sees detaches, and slots that are free again', async () => {
    for (const eni of enis) {
      expect((await service.del(`task-${eni.deviceNumber}`)).status).toBe(200);
      await eni.detach();
    }
    await sleep(2500);
    await prometheus.scrapedAgain();
    expect(await prometheus.value('task_eni_detach_duration_seconds_count{outcome="success"}')).toBe(2);
    expect(await prometheus.value('task_eni_tasks{state="READY"}')).toBe(1);
    expect(await prometheus.value('task_eni_link_local_addresses_allocated')).toBe(1);
  });

  it('sees how often credentials were fetched', async () => {
    const eni = await lab.createEni();
    const pushed = {
      source: 'pushed',
      roleArn: 'arn:aws:iam::123456789012:role/app',
      accessKeyId: 'ASIAEXAMPLE000000001',
      secretAccessKey: 'example-secret',
      sessionToken: 'example-token',
      expiration: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const { status, body } = await attach(eni, { credentials: pushed });
    expect({ status, body }).toMatchObject({ status: 201 });
    const url = `http://169.254.170.2${body.credentials.relativeUri}`;
    for (let count = 0; count < 3; count += 1)
      await lab.host.run('nsenter', `--net=${body.sandbox.netns}`, 'curl', '-sSf', '-o', '/dev/null', url);
    await sleep(2000);
    await prometheus.scrapedAgain();
    expect(await prometheus.value('task_eni_credentials_requests_total{code="200"}')).toBe(3);
    expect(await prometheus.value('task_eni_credentials_request_duration_seconds_count')).toBe(3);
    const life = await prometheus.value('task_eni_credentials_earliest_expiry_timestamp_seconds - time()');
    expect(life).toBeGreaterThan(3000);
    expect(life).toBeLessThan(3601);
  });

  it('is given text in which promtool finds no fault, and in which no task or MAC is named', async () => {
    const { status, headers, body } = await service.api<string>('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; ?version=0\.0\.4/);
    promtool(['check', 'metrics'], body);
    expect(body).not.toContain('task-1');
    for (const { mac } of enis) expect(body).not.toContain(mac);
  });
});
