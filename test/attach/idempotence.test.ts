import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { footprintOf } from './footprint.js';
import { Inside } from './inside.js';

let lab: Lab;
let service: ServiceProcess;

beforeAll(async () => {
  lab = await Lab.create({ name: 'idempotence' });
  service = await lab.startService();
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

const bodyOf = (eni: Eni, rest: object = {}) => ({ eni: { macAddress: eni.mac }, dhcp: false, ...rest });

describe('the same request', () => {
  it('ten times at once, its MAC written in many ways, is one attach with one answer', async () => {
    const eni = await lab.createEni();
    const writings = [
      eni.mac,
      eni.mac.toUpperCase(),
      eni.mac.replaceAll(':', '-'),
      eni.mac.toUpperCase().replaceAll(':', '-'),
    ];
    const answers = await Promise.all(
      [...Array(10).keys()].map((n) =>
        service.post('ten', { eni: { macAddress: writings[n % writings.length] }, dhcp: false, labels: {} }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(9).fill(200), 201]);
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect(answers[0]?.body.state).toBe('READY');
    const { bridgePorts, allocated } = await footprintOf(lab, service);
    expect([bridgePorts.length, allocated]).toEqual([1, 1]);
    const again = await service.post('ten', bodyOf(eni));
    expect(again.status).toBe(200);
    expect(again.body).toEqual(answers[0]?.body);
  });

  it('may be answered before it is carried out, and then be looked at until it is', async () => {
    const eni = await lab.createEni();
    const answer = await service.post('async', bodyOf(eni), { Prefer: 'respond-async' });
    expect(answer.status).toBe(202);
    expect(answer.headers['preference-applied']).toBe('respond-async');
    expect(answer.headers.location).toBe('/tasks/async/network');
    expect(answer.body.state).toBe('PENDING');
    await expect.poll(async () => (await service.get('async')).body.state, { timeout: 10_000 }).toBe('READY');
  });

  it('is carried out though the one who sent it hung up', async () => {
    const eni = await lab.createEni({ attach: false });
    const headers = { Host: 'localhost', 'Content-Type': 'application/json' };
    const outgoing = request({ socketPath: service.socket, method: 'POST', path: '/tasks/left/network', headers });
    outgoing.on('error', () => undefined);
    outgoing.end(JSON.stringify(bodyOf(eni)));
    await expect.poll(async () => (await service.get('left')).status, { timeout: 10_000 }).toBe(200);
    outgoing.destroy();
    await eni.attach();
    await expect.poll(async () => (await service.get('left')).body.state, { timeout: 10_000 }).toBe('READY');
  });
});

describe('a request that does not fit what there is', () => {
  let eni: Eni;
  let task: Inside;
  beforeAll(async () => {
    eni = await lab.createEni();
    const { status, body } = await service.post('holder', bodyOf(eni));
    expect(status).toBe(201);
    task = new Inside(body.sandbox.netns);
  });

  it('another body for the task is refused, and nothing moves', async () => {
    const other = await lab.createEni();
    for (const body of [
      bodyOf(other),
      bodyOf(eni, { labels: { a: 'b' } }),
      bodyOf(eni, { blockInstanceMetadata: false }),
    ]) {
      const answer = await service.post('holder', body);
      expect(answer).toMatchObject({ status: 409, body: { code: 'task-exists', taskId: 'holder' } });
    }
    expect((await other.locate())?.name).toBe(other.hostName);
    expect((await task.link('eth0')).address).toBe(eni.mac);
  });

  it('the ENI of another task is refused, by MAC and by id', async () => {
    for (const facts of [{ macAddress: eni.mac }, { id: eni.id }]) {
      const answer = await service.post('second', { eni: facts });
      expect(answer).toMatchObject({ status: 409, body: { code: 'eni-in-use' } });
      expect(answer.body.detail).toContain('holder');
    }
    expect((await task.link('eth0')).address).toBe(eni.mac);
  });

  it('the sandbox of another task is refused, by whatever path it is named', async () => {
    const own = await lab.createNamespace();
    const first = await lab.createEni();
    const second = await lab.createEni();
    expect((await service.post('first', bodyOf(first, { sandbox: { netns: own.path } }))).status).toBe(201);
    for (const netns of [
      own.path,
      own.path.replace('/run', '/var/run'),
      (await service.get('holder')).body.sandbox.netns,
    ]) {
      const answer = await service.post('second', bodyOf(second, { sandbox: { netns } }));
      expect(answer).toMatchObject({ status: 409, body: { code: 'sandbox-in-use' } });
    }
    expect((await second.locate())?.name).toBe(second.hostName);
  });

  it('of two tasks that want one namespace at once, one has it', async () => {
    const own = await lab.createNamespace();
    const enis = [await lab.createEni(), await lab.createEni()];
    const paths = [own.path, own.path.replace('/run', '/var/run')];
    const answers = await Promise.all(
      enis.map((each, n) => service.post(`rival-${n}`, bodyOf(each, { sandbox: { netns: paths[n] } }))),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
  });
});

describe("the host's own interface", () => {
  const primary = { ipv4Address: '172.31.0.10/20', ipv4Gateway: '172.31.0.1' };
  async function refusesPrimary(): Promise<void> {
    const { address } = await new Inside(lab.host.path).link('eth0');
    const answer = await service.post('greedy', { eni: { macAddress: address, ...primary } });
    expect(answer).toMatchObject({ status: 409, body: { code: 'primary-eni' } });
    const link = await new Inside(lab.host.path).link('eth0');
    expect(link.flags).toContain('UP');
    expect(link.addr_info.map(({ local }) => local)).toContain('172.31.0.10');
  }

  it('is refused, known by instance metadata', refusesPrimary);

  it('is refused, known by its default route when instance metadata is silent', async () => {
    await service.stop();
    await lab.metadata.stop();
    service = await lab.startService();
    await refusesPrimary();
    const eni = await lab.createEni({ inMetadata: false });
    // As the host's tools give it to each further ENI: behind the default route that is used.
    await lab.host.ipBatch([
      `link set ${eni.hostName} up`,
      `address add ${eni.ipv4Address} dev ${eni.hostName}`,
      `route add default via 172.31.0.1 dev ${eni.hostName} metric 512`,
    ]);
    const facts = { macAddress: eni.mac, ipv4Address: eni.ipv4Address, ipv4Gateway: '172.31.0.1' };
    const { status, body } = await service.post('modest', { eni: facts, dhcp: false });
    expect(status, JSON.stringify(body)).toBe(201);
  });
});
