import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;
let tasks = 0;

beforeAll(async () => {
  lab = await Lab.create({ name: 'metadata' });
  service = await lab.startService({
    env: {
      TASK_ENI_ENI_WAIT_SECONDS: '8',
      TASK_ENI_METADATA_SETTLE_SECONDS: '3',
      HTTP_PROXY: 'http://127.0.0.1:9',
      http_proxy: 'http://127.0.0.1:9',
    },
  });
});

afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

beforeEach(async () => {
  await lab.metadata.heal();
  await lab.metadata.resetRequests();
});

/** Attaches by MAC unless told otherwise; `seconds` is how long the POST took. */
async function attach(eni: Eni, request: object = { macAddress: eni.mac }) {
  const taskId = `task-${(tasks += 1)}`;
  const start = performance.now();
  const { status, body } = await service.post(taskId, { eni: request, dhcp: false });
  return { taskId, status, body, seconds: (performance.now() - start) / 1000 };
}

async function asked(method: 'GET' | 'PUT', part = '') {
  const requests = await lab.metadata.requests();
  return requests.filter((request) => request.method === method && request.path.includes(part));
}

async function linkOf(eni: Eni): Promise<string | undefined> {
  return (await lab.host.ip('link', 'show')).find(({ address }) => address === eni.mac)?.ifname;
}

describe('metadata that is complete', () => {
  it('costs at most eight reads by MAC, and one more by id for each MAC not seen before', async () => {
    const byMac = await attach(await lab.createEni());
    expect(byMac.status).toBe(201);
    expect((await asked('GET')).length).toBeLessThanOrEqual(8);
    expect((await asked('PUT')).length).toBeLessThanOrEqual(1);

    await lab.metadata.resetRequests();
    const eni = await lab.createEni();
    const byId = await attach(eni, { id: eni.id });
    expect(byId.body.eni.macAddress).toBe(eni.mac);
    const macs = new Set((await asked('GET', '/interface-id')).map(({ path }) => path));
    expect((await asked('GET')).length).toBeLessThanOrEqual(8 + macs.size);
  });

  it('gives both addresses, and the gateway that a VPC has', async () => {
    const eni = await lab.createEni();
    const { body } = await attach(eni, { macAddress: eni.mac.toUpperCase().replaceAll(':', '-') });
    expect(body.eni).toMatchObject({
      id: eni.id,
      ipv4Address: eni.ipv4Address,
      ipv4Gateway: '172.31.0.1',
      ipv6Address: eni.ipv6Address,
    });
    expect(body.warnings).toEqual([]);
  });

  it('is not read for a body with MAC, address and gateway', async () => {
    const eni = await lab.createEni();
    const request = { macAddress: eni.mac, ipv4Address: eni.ipv4Address, ipv4Gateway: '172.31.0.1' };
    const { status, body } = await attach(eni, request);
    expect(status).toBe(201);
    expect(body.eni).toMatchObject({ ipv4Address: eni.ipv4Address, ipv6Address: null });
    expect(await asked('GET', eni.mac)).toEqual([]);
  });

  it('names the addresses that the task does not get', async () => {
    const eni = await lab.createEni();
    await lab.metadata.setKey(eni.mac, 'local-ipv4s', `${eni.ipv4Address.split('/')[0]}\n172.31.9.9`);
    const { body } = await attach(eni);
    expect(body.eni.ipv4Address).toBe(eni.ipv4Address);
    expect(body.warnings).toEqual([expect.stringContaining('172.31.9.9')]);
  });

  it('and contradicts the request, or cannot be, is refused, and the link stays home', async () => {
    const eni = await lab.createEni();
    const other = await lab.createEni();
    const contradicted = await attach(eni, { macAddress: eni.mac, id: other.id });
    expect(contradicted).toMatchObject({ status: 422, body: { code: 'unusable-eni' } });
    await lab.metadata.setKey(eni.mac, 'subnet-ipv4-cidr-block', '172.31.0.0/30');
    expect(await attach(eni)).toMatchObject({ status: 422, body: { code: 'unusable-eni' } });
    expect(await linkOf(eni)).toBe(eni.hostName);
  });
});

describe('metadata that lags', () => {
  it('is waited for piece by piece', async () => {
    const eni = await lab.createEni();
    await lab.metadata.fail({ kind: 'not-found', mac: eni.mac, forMilliseconds: 1000 });
    await lab.metadata.hideKey(eni.mac, 'subnet-ipv4-cidr-block', 1500);
    await lab.metadata.hideKey(eni.mac, 'ipv6s', 3000);
    const { status, body, seconds } = await attach(eni);
    expect(status).toBe(201);
    expect(body.eni).toMatchObject({ ipv4Address: eni.ipv4Address, ipv6Address: eni.ipv6Address });
    expect(seconds).toBeGreaterThan(2.9);
    expect(seconds).toBeLessThan(6);
  });

  it('in one family only so long, and then said', async () => {
    const eni = await lab.createEni();
    await lab.metadata.setKey(eni.mac, 'ipv6s', null);
    const { status, body, seconds } = await attach(eni);
    expect(status).toBe(201);
    expect(body.eni.ipv6Address).toBeNull();
    expect(body.warnings).toEqual([expect.stringContaining('ipv6s')]);
    expect(seconds).toBeGreaterThan(2.9);
    expect(seconds).toBeLessThan(6);
  });

  it('is not waited for where there is no other family', async () => {
    const six = await lab.createEni({ ipv6Only: true });
    const { status, body, seconds } = await attach(six);
    expect(status).toBe(201);
    expect(body.eni).toMatchObject({ ipv4Address: null, ipv6Address: six.ipv6Address });
    expect(seconds).toBeLessThan(6);
  });

  it('for ever is a time-out that names what is missing, and nothing has changed', async () => {
    const eni = await lab.createEni();
    await lab.metadata.setKey(eni.mac, 'subnet-ipv4-cidr-block', null);
    await lab.metadata.setKey(eni.mac, 'subnet-ipv6-cidr-blocks', null);
    const { status, body, seconds } = await attach(eni);
    expect(status).toBe(504);
    expect(body).toMatchObject({ code: 'metadata-timeout', detail: expect.stringContaining('subnet-ipv4-cidr-block') });
    expect(seconds).toBeLessThan(12);
    expect(await linkOf(eni)).toBe(eni.hostName);
  });
});

describe('metadata in trouble', () => {
  it('with stale MACs of other ENIs still has the wanted one', async () => {
    for (const mac of ['02:ff:00:00:00:01', '02:ff:00:00:00:02']) await lab.metadata.addStaleInterface(mac);
    const eni = await lab.createEni();
    expect(await attach(eni)).toMatchObject({ status: 201 });
    const byId = await lab.createEni();
    expect(await attach(byId, { id: byId.id })).toMatchObject({ status: 201 });
    expect(await asked('GET', '02:ff:00:00:00:01/local-ipv4s')).toEqual([]);
  });

  it('that has forgotten its tokens costs one new token', async () => {
    await lab.metadata.invalidateTokens();
    expect(await attach(await lab.createEni())).toMatchObject({ status: 201 });
    expect(await asked('PUT')).toHaveLength(1);
  });

  it('that takes no token is given up soon, with the reason', async () => {
    await lab.metadata.refuseTokens();
    const { status, body, seconds } = await attach(await lab.createEni());
    expect(status).toBe(504);
    expect(body).toMatchObject({ code: 'metadata-timeout', detail: expect.stringContaining('401') });
    expect(seconds).toBeLessThan(6);
  });

  it('that never answers ends at the deadline, and attaches that need it not go on meanwhile', async () => {
    await lab.metadata.fail({ kind: 'hang' });
    const hanging = attach(await lab.createEni());
    const eni = await lab.createEni();
    const whole = { macAddress: eni.mac, ipv4Address: eni.ipv4Address, ipv4Gateway: '172.31.0.1' };
    const { status, seconds } = await attach(eni, whole);
    expect(status).toBe(201);
    expect(seconds).toBeLessThan(5);
    const ended = await hanging;
    expect(ended).toMatchObject({ status: 504, body: { code: 'metadata-timeout' } });
    expect(ended.seconds).toBeLessThan(12);
  });

  it('takes nothing from a task that has its network, not even over a restart', async () => {
    const eni = await lab.createEni();
    const { taskId, body: before } = await attach(eni);
    await lab.metadata.removeInterface(eni.mac);
    await service.stop();
    service = await lab.startService();
    await sleep(1000);
    const { status, body } = await service.get(taskId);
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'READY', eni: before.eni });
  });
});
