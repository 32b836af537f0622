import { mkdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { filesOf } from '../lab/engine-files.js';
import { Lab } from '../lab/lab.js';
import { wireLines } from '../lab/vpc.js';
import { type BuiltImage, builtImage } from './built-image.js';
import { packTarball } from './installed-package.js';
import { Pings } from './pings.js';

const compose = load(readFileSync(inCheckout('deploy/image/compose.yaml'), 'utf8')) as {
  services: {
    'task-eni': {
      network_mode: string;
      pid: string;
      read_only: boolean;
      cap_drop: string[];
      cap_add: string[];
      security_opt: string[];
      tmpfs: string[];
      volumes: { source: string; target: string; bind?: { propagation?: string } }[];
    };
  };
};
const wanted = compose.services['task-eni'];
const gateway = '172.31.0.1';
const folders = [
  ['/run/task-eni', 'run'],
  ['/var/lib/task-eni', 'state'],
  ['/var/log/task-eni', 'log'],
] as const;

describe('the image, on an engine whose host it serves', () => {
  let engine: DockerEngine;
  let lab: Lab;
  let image: BuiltImage;
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
    // What the compose file says, but for the folders of the host, which are the lab's.
    const places: Record<string, string> = { '/run/netns': '/run/netns', '/run/docker.sock': filesOf('image').socket };
    for (const [path, name] of folders) {
      places[path] = `${lab.directory}/${name}`;
      mkdirSync(places[path], { recursive: true });
    }
    const volumes = wanted.volumes.map(
      ({ source, target, bind }) => `${places[source]}:${target}:${bind?.propagation ?? 'rw'}`,
    );
    await engine.docker(
      'run',
      '--detach',
      '--name=task-eni',
      '--health-interval=1s',
      `--network=${wanted.network_mode}`,
      `--pid=${wanted.pid}`,
      `--read-only=${wanted.read_only}`,
      ...wanted.cap_drop.map((name) => `--cap-drop=${name}`),
      ...wanted.cap_add.map((name) => `--cap-add=${name}`),
      ...wanted.security_opt.map((option) => `--security-opt=${option}`),
      ...wanted.tmpfs.map((path) => `--tmpfs=${path}`),
      ...volumes.map((volume) => `--volume=${volume}`),
      `--env=TASK_ENI_BRIDGE_NETNS=${lab.id}`,
      `--env=TASK_ENI_PAUSE_IMAGE=${pause}`,
      '--env=TASK_ENI_SANDBOX=docker',
      '--env=DOCKER_HOST=unix:///run/docker.sock',
      image.name,
    );
  };
  const isReady = async () => (await api<{ status: string }>('GET', '/readyz')).status;

  beforeAll(async () => {
    engine = await DockerEngine.start({ name: 'image' });
    lab = await Lab.create({ name: 'image' });
    image = await builtImage(await packTarball(), engine);
    await run('docker', ['load', '--input', image.archive], { env: engine.environment() });
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
    const megabytes = Number(await engine.docker('image', 'inspect', '--format', '{{.Size}}', image.name)) / 1e6;
    expect(megabytes).toBeLessThan(300);
  });

  it('has an init as its process 1, and keeps no capability that it does not use', async () => {
    const init = await engine.docker('inspect', '--format', '{{.State.Pid}}', 'task-eni');
    expect(readFileSync(`/proc/${init}/comm`, 'utf8')).toBe('tini\n');
    const [service] = readFileSync(`/proc/${init}/task/${init}/children`, 'utf8').split(' ');
    const status = readFileSync(`/proc/${service}/status`, 'utf8');
    const kept = wanted.cap_add.filter((name) => name !== 'SETPCAP').map((name) => `cap_${name.toLowerCase()}`);
    for (const field of ['CapEff', 'CapBnd']) {
      const held = await run('capsh', [`--decode=${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`]);
      expect(held.trim().split('=')[1]?.split(',').toSorted()).toEqual(kept.toSorted());
    }
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
  });

  it('logs JSON lines and nothing else', async () => {
    const logs = await run('sh', ['-c', 'docker logs task-eni 2>&1'], { env: engine.environment() });
    for (const line of logs.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  });

  it('attaches a task in a pause container of the same engine', async () => {
    eni = await lab.createEni({ attach: false });
    const link = { netns: host, name: eni.hostName, mac: eni.mac, mtu: eni.mtu };
    await lab.vpc.ipBatch(wireLines(eni.wire, link));
    const facts = { macAddress: eni.mac, ipv4Address: eni.ipv4Address, ipv4Gateway: gateway };
    network = await api<Network>('POST', '/tasks/web-1/network', { eni: facts });
    expect(network).toMatchObject({ state: 'READY', sandbox: { kind: 'docker', owned: true } });
    pings = await Pings.start(lab, `/proc/${network.sandbox.pid}/ns/net`, gateway);
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
