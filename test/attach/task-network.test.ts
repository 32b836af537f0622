import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkOrProblem } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Inside } from './inside.js';

const sandboxes = [{ kind: 'netns' }, { kind: 'docker' }] as const;

describe.each(sandboxes)('a task with both address families, in a $kind sandbox', ({ kind }) => {
  let engine: DockerEngine | undefined;
  let lab: Lab;
  let service: ServiceProcess;
  let eni: Eni;
  let network: NetworkOrProblem;
  let task: Inside;
  let metadataRoute: string;

  beforeAll(async () => {
    if (kind === 'docker') engine = await DockerEngine.start();
    lab = await Lab.create({ name: `diagram ${kind}`, dhcp: true, routerAdvertisements: true });
    service = await lab.startService({ env: (await engine?.serviceEnvironment()) ?? {} });
    eni = await lab.createEni();
    metadataRoute = await lab.host.run('ip', 'route', 'get', '169.254.169.254');
    const answer = await service.post('web-1', { eni: { macAddress: eni.mac } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    network = answer.body;
    task = new Inside(network.sandbox.netns);
  });
  afterAll(async () => {
    await service?.stop();
    await lab?.destroy();
    await engine?.stop();
  });

  it('can bind to its IPv6 address as soon as the POST is answered', async () => {
    await task.bind(eni.ipv6Address?.split('/')[0] ?? '');
    const link = await task.link('eth0');
    expect(link.addr_info.filter(({ tentative }) => tentative)).toEqual([]);
  });

  it('has lo, the ENI and its end of the pair to the bridge, all up, and no other link', async () => {
    const links = await task.links();
    expect(links.map(({ ifname }) => ifname).toSorted()).toEqual(['ecs-eth0', 'eth0', 'lo']);
    for (const { flags } of links) expect(flags).toContain('UP');
    expect(await task.link('eth0')).toMatchObject({ address: eni.mac, mtu: 9001 });
    expect(await eni.locate()).toMatchObject({ name: 'eth0' });
    expect(network.eni).toMatchObject({ id: eni.id, macAddress: eni.mac, interface: 'eth0', mtu: 9001 });
  });

  it("has the ENI's addresses, its link-local one, and none that was autoconfigured", async () => {
    await expect.poll(() => task.routes(), { timeout: 10_000 }).toContain('default via fe80::1 dev eth0');
    expect(await task.addresses()).toEqual(
      [
        `ecs-eth0 ${network.linkLocal.ipv4Address}/32`,
        `eth0 ${eni.ipv4Address}`,
        `eth0 ${eni.ipv6Address}`,
        'lo 127.0.0.1/8',
        'lo ::1/128',
      ].toSorted(),
    );
    const ownIpv6 = (await task.link('ecs-eth0')).addr_info.filter(({ family }) => family === 'inet6');
    expect(ownIpv6).toEqual([]);
  });

  it('has a default route by each gateway, the way to its credentials, and none to instance metadata', async () => {
    await expect.poll(() => task.routes(), { timeout: 10_000 }).toContain('default via fe80::1 dev eth0');
    expect(await task.routes()).toEqual(
      [
        '169.254.170.2 dev ecs-eth0',
        '172.31.0.0/20 dev eth0',
        '2001:db8:1::/64 dev eth0',
        'blackhole 169.254.169.254',
        'blackhole fd00:ec2::254',
        'default via 172.31.0.1 dev eth0',
        'default via fe80::1 dev eth0',
      ].toSorted(),
    );
    await expect(task.ping('169.254.169.254')).rejects.toThrow(/Invalid argument/);
    await expect(task.ping('fd00:ec2::254')).rejects.toThrow(/Invalid argument/);
  });

  it('is told the gateway that its router advertised, once it has', async () => {
    const gateway = async () => (await service.get('web-1')).body.eni.ipv6Gateway;
    await expect.poll(gateway, { timeout: 10_000 }).toBe('fe80::1');
  });

  it("speaks with the VPC's gateway by the ENI's address and hardware address, in both directions", async () => {
    const [ipv4 = ''] = eni.ipv4Address.split('/');
    const [ipv6 = ''] = eni.ipv6Address?.split('/') ?? [];
    const gateway = new Inside(lab.vpc.path);
    await task.ping('172.31.0.1');
    await task.ping('2001:db8:1::1');
    const neighbours = await gateway.ip<{ dst: string; lladdr: string }[]>('neighbour', 'show');
    for (const address of [ipv4, ipv6])
      expect(neighbours).toContainEqual(expect.objectContaining({ dst: address, lladdr: eni.mac }));
    await gateway.ping(ipv4);
    await gateway.ping(ipv6);
  });

  it('is joined to a bridge that stands in a namespace of its own and leads nowhere', async () => {
    const bridge = new Inside(`/run/netns/${lab.id}`);
    const links = await bridge.links();
    const { hostInterface } = network.linkLocal;
    expect(links.map(({ ifname }) => ifname).toSorted()).toEqual(['ecs-eni', 'lo', hostInterface].toSorted());
    expect(links.find(({ ifname }) => ifname === hostInterface)).toMatchObject({ master: 'ecs-eni', mtu: 1500 });
    for (const { flags } of links) expect(flags).toContain('UP');
    expect(await bridge.addresses()).toEqual([
      'ecs-eni 169.254.170.2/32',
      'ecs-eni 169.254.172.1/22',
      'lo 127.0.0.1/8',
    ]);
    expect(await bridge.routes()).toEqual(['169.254.172.0/22 dev ecs-eni']);
    expect((await task.link('ecs-eth0')).mtu).toBe(1500);
  });

  it('reaches what listens for its credentials', async () => {
    const program = `require('http').get('http://169.254.170.2/', (answer) => { console.log(answer.statusCode); process.exit(); })`;
    expect((await task.run(process.execPath, '-e', program)).trim()).toBe('404');
  });

  it("leaves the host's own way to instance metadata as it was, and differs in nothing from its plan", async () => {
    expect(await lab.host.run('ip', 'route', 'get', '169.254.169.254')).toBe(metadataRoute);
    const { body } = await service.api('GET', '/tasks/web-1/network?verify=true');
    expect(body.drift).toEqual([]);
  });

  it('gives the ENI back at the end, down and bare under its old name, and leaves no trace', async () => {
    const gone = await service.del('web-1');
    expect(gone.status).toBe(200);
    expect(gone.body).toMatchObject({ state: 'DETACHED', eni: { hostInterface: eni.hostName } });
    const home = await new Inside(lab.host.path).link(eni.hostName);
    expect(home).toMatchObject({ address: eni.mac, mtu: 9001, addr_info: [] });
    expect(home.flags).not.toContain('UP');
    expect(home['ifalias']).toBeUndefined();
    const bridge = await new Inside(`/run/netns/${lab.id}`).links();
    expect(bridge.map(({ ifname }) => ifname).toSorted()).toEqual(['ecs-eni', 'lo']);
  });
});
