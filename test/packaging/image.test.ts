import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { filesOf } from '../lab/engine-files.js';
import { Lab } from '../lab/lab.js';
import { wireLines } from '../lab/vpc.js';
import { installByScript, packTarball } from './installed-package.js';
import { Pings } from './pings.js';

const base = 'task-eni-lab/node:1';
const image = 'task-eni-lab/task-eni:1';
const capabilities = 'NET_ADMIN SYS_ADMIN SYS_PTRACE SETUID SETGID KILL NET_RAW NET_BIND_SERVICE SETPCAP'.split(' ');
const gateway = '172.31.0.1';

describe('the image, on an engine whose host it serves', () => {
  let engine: DockerEngine;
  let lab: Lab;
  let eni: Eni;
  let network: Network;
  let pings: Pings;
  const host = filesOf('image').mark;

  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const sent = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const socket = ['--unix-socket', `${lab.directory}/run/api.sock`, '--retry', '60', '--retry-delay', '1'];
    const always = ['-sS', '--retry-all-errors', '-X', method];
    return JSON.parse(await run('curl', [...always, ...socket, ...sent, `http://localhost${path}`])) as T;
  };
  const start = async () => {
    const pause = await engine.importImage('pause');
    const folders = { run: '/run/task-eni', state: '/var/lib/task-eni', log: '/var/log/task-eni' };
    for (const name of Object.keys(folders)) mkdirSync(`${lab.directory}/${name}`, { recursive: true });
    await engine.docker(
      ...['run', '--detach', '--name', 'task-eni', '--network', 'host', '--pid', 'host', '--read-only'],
      ...['--cap-drop', 'ALL', ...capabilities.flatMap((each) => ['--cap-add', each])],
      ...['no-new-privileges', 'systempaths=unconfined', 'apparmor=unconfined'].flatMap((each) => [
        '--security-opt',
        each,
      ]),
      ...['--volume', '/run/netns:/run/netns:rshared', '--volume', `${filesOf('image').socket}:/run/docker.sock`],
      ...Object.entries(folders).flatMap(([name, path]) => ['--volume', `${lab.directory}/${name}:${path}`]),
      ...['--tmpfs', '/tmp', '--tmpfs', '/var/lib/dhcp', '--health-interval', '1s'],
      ...['--env', `TASK_ENI_BRIDGE_NETNS=${lab.id}`, '--env', 'DOCKER_HOST=unix:///run/docker.sock'],
      ...['--env', `TASK_ENI_PAUSE_IMAGE=${pause}`, '--env', 'TASK_ENI_SANDBOX=docker'],
      image,
    );
  };
  const isReady = async () => (await api<{ status: string }>('GET', '/readyz')).status;

  beforeAll(async () => {
    const installed = await installByScript(await packTarball());
    engine = await DockerEngine.start({ name: 'image' });
    lab = await Lab.create({ name: 'image' });
    const root = execFileSync('sh', [inCheckout('test/packaging/node-image.sh')], { maxBuffer: 2 ** 30 });
    execFileSync('docker', ['import', '--change', 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '-', base], {
      input: root,
      env: engine.environment(),
    });
    const options = ['--network', 'none', '--build-arg', `NODE_IMAGE=${base}`, '--tag', image];
    const dockerfile = ['--file', inCheckout('deploy/image/Dockerfile'), `${installed}/opt/task-eni`];
    const env = { ...engine.environment(), DOCKER_BUILDKIT: '0' };
    await run('docker', ['build', '--quiet', ...options, ...dockerfile], { env, timeout: 240_000 });
    await start();
  }, 400_000);
  afterAll(async () => {
    await engine?.stop();
    await lab?.destroy();
  });

  it('becomes healthy, and finds nothing on the host that keeps it from serving', async () => {
    const health = () => engine.docker('inspect', '--format', '{{.State.Health.Status}}', 'task-eni');
    await expect.poll(health, { timeout: 30_000 }).toBe('healthy');
    expect(await engine.docker('exec', 'task-eni', 'task-eni', 'doctor')).toMatch(/This host can run task-eni/);
  });

  it('is smaller than Node and what the service needs together', async () => {
    const megabytes = Number(await engine.docker('image', 'inspect', '--format', '{{.Size}}', image)) / 1e6;
    expect(megabytes).toBeLessThan(300);
  });

  it('has an init as its process 1, and keeps no capability that it does not use', async () => {
    const init = await engine.docker('inspect', '--format', '{{.State.Pid}}', 'task-eni');
    expect(readFileSync(`/proc/${init}/comm`, 'utf8')).toBe('tini\n');
    const [service] = readFileSync(`/proc/${init}/task/${init}/children`, 'utf8').split(' ');
    const status = readFileSync(`/proc/${service}/status`, 'utf8');
    const kept = capabilities.filter((name) => name !== 'SETPCAP').map((name) => `cap_${name.toLowerCase()}`);
    for (const field of ['CapEff', 'CapBnd']) {
      const held = await run('capsh', [`--decode=${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`]);
      expect(held.trim().split('=')[1]?.split(',').toSorted()).toEqual(kept.toSorted());
    }
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
  });

  it('attaches a task in a pause container of the same engine', async () => {
    eni = await lab.createEni({ attach: false });
    const link = { netns: host, name: eni.hostName, mac: eni.mac, mtu: eni.mtu };
    await lab.vpc.ipBatch(wireLines(eni.wire, link));
    const facts = { macAddress: eni.mac, ipv4Address: eni.ipv4Address, ipv4Gateway: gateway };
    network = await api<Network>('POST', '/tasks/web-1/network', { eni: facts });
    expect(network).toMatchObject({ state: 'READY', sandbox: { kind: 'docker', owned: true } });
    pings = await Pings.start(`/proc/${network.sandbox.pid}/ns/net`, gateway);
  });

  it.each([
    ['is restarted', () => engine.docker('restart', 'task-eni')],
    ['is killed and started', () => engine.docker('kill', 'task-eni').then(() => engine.docker('start', 'task-eni'))],
    ['is replaced by a new one', () => engine.docker('rm', '--force', 'task-eni').then(start)],
  ])('leaves the task its network when it %s', async (_how, interrupt) => {
    await interrupt();
    await isReady();
    const now = await api('GET', '/tasks/web-1/network?verify=true');
    expect(now).toMatchObject({ state: 'READY', drift: [] });
  });

  it('has lost no packet of the task in all that, and detaches it', async () => {
    const { sent, lost } = await pings.stop();
    expect(sent).toBeGreaterThan(50);
    expect(lost).toBe(0);
    expect(await api('DELETE', '/tasks/web-1/network')).toMatchObject({ state: 'DETACHED' });
    const home = await run('nsenter', [`--net=/run/netns/${host}`, 'ip', '-o', 'link', 'show', eni.hostName]);
    expect(home).toContain(eni.mac);
  });
});
