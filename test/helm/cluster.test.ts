import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { written } from '../guides/guide.js';
import { everyForm } from '../guides/stand-ins.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import { vpc } from '../lab/vpc.js';
import { builtImage } from '../packaging/built-image.js';
import { packTarball } from '../packaging/installed-package.js';
import { Pings } from '../packaging/pings.js';
import { helmProgram } from './chart.js';
import { Cluster } from './cluster/cluster.js';
import { missingForCluster, operatorKinds } from './cluster/programs.js';

const missing = helmProgram === undefined ? 'helm missing: run test/helm/install.sh' : missingForCluster();
const gateway = '172.31.0.1';
const ecr = '123456789012.dkr.ecr.us-west-2.amazonaws.com';
const example = (name: string) => `helm/task-eni/examples/${name}.yaml`;
const rollout = 'kubectl -n task-eni rollout status daemonset/task-eni --timeout=150s';
const credentials = {
  source: 'pushed',
  roleArn: 'arn:aws:iam::123456789012:role/app',
  accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'secret-of-the-task',
  sessionToken: 'token',
  expiration: '2099-01-01T00:00:00Z',
};

interface Manifest {
  readonly kind: string;
  readonly spec: { readonly template: object };
}

const [install = ''] = everyForm(written('deploy/README.md › Kubernetes'));
const [upgradeByGuide = ''] = everyForm(written('deploy/README.md › Upgrade'));

describe.skipIf(missing !== undefined)(`the chart on a Kubernetes${missing ? ` (${missing})` : ''}`, () => {
  let engine: DockerEngine;
  let lab: Lab;
  let cluster: Cluster;
  let pauseImage: string;
  let eni: Eni;
  let network: Network;
  let pings: Pings;

  const kubectl = (...args: string[]) => cluster.kubectl('--namespace=task-eni', ...args);
  const pod = () => kubectl('get', 'pods', '-o', 'name').then((name) => name.trim());
  const inPod = (...command: string[]) => kubectl('exec', 'daemonset/task-eni', '--', ...command);
  const upgrade = (...args: string[]) =>
    cluster.helm('upgrade', 'task-eni', 'helm/task-eni', '-n', 'task-eni', ...args);
  /** Resolves when the pod is another one, and ready. */
  const changesPod = async (change: () => Promise<unknown>) => {
    const former = await pod();
    await change();
    await expect.poll(pod, { timeout: 90_000 }).toSatisfy((now: string) => /^\S+$/.test(now) && now !== former);
    await kubectl('wait', '--for=condition=Ready', await pod(), '--timeout=150s');
  };
  const fetchKey = async () => {
    const url = `http://169.254.170.2${network.credentials.relativeUri}`;
    const patient = ['--max-time', '5', '--retry', '30', '--retry-delay', '1', '--retry-all-errors'];
    const answer = await cluster.run('nsenter', `--net=${network.sandbox.netns}`, 'curl', '-sS', '-f', ...patient, url);
    return (JSON.parse(answer) as { AccessKeyId?: string }).AccessKeyId;
  };

  beforeAll(async () => {
    engine = await DockerEngine.start();
    const image = await builtImage(await packTarball(), engine);
    pauseImage = await engine.importImage('pause');
    lab = await Lab.create({ name: 'kubernetes', dhcp: true });
    await engine.docker('save', '--output', `${lab.directory}/pause.tar`, pauseImage);
    cluster = await Cluster.start(lab, { pauseImage: `docker.io/${pauseImage}`, helm: helmProgram ?? '' });
    await cluster.importImage(`${lab.directory}/pause.tar`, pauseImage);
    const names = ['registry.lab/task-eni:0.1.0', 'registry.lab/task-eni:0.1.1', `${ecr}/task-eni:0.1.0`];
    await cluster.importImage(image.archive, image.name, ...names);
  }, 600_000);
  afterAll(async () => {
    await cluster?.halt();
    await lab?.destroy();
    await engine?.stop();
  });

  it('installs as the guide says, until it is ready', async () => {
    expect(await cluster.shell(install)).toMatch(/successfully rolled out/);
    expect(await inPod('task-eni', 'doctor')).toMatch(/This host can run task-eni/);
    expect(await inPod('task-eni', 'status')).toMatch(/No task has a network/);
  }, 200_000);

  it('logs JSON lines and nothing else', async () => {
    for (const line of (await kubectl('logs', 'daemonset/task-eni')).trim().split('\n'))
      expect(JSON.parse(line)).toHaveProperty('msg');
  });

  it('keeps of a privileged container only the capabilities that the image names', async () => {
    const [, named] =
      /--bounding-set=-all,([^"]*)/.exec(readFileSync(inCheckout('deploy/image/Dockerfile'), 'utf8')) ?? [];
    const pid = await cluster.run('pgrep', '-f', '^node /usr/local/bin/task-eni serve');
    const status = await cluster.run('cat', `/proc/${pid.trim()}/status`);
    for (const field of ['CapEff', 'CapBnd']) {
      const held = await run('capsh', [`--decode=${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`]);
      const kept = held
        .trim()
        .split('=')[1]
        ?.split(',')
        .map((name) => name.replace('cap_', '+'));
      expect(kept?.toSorted()).toEqual(named?.split(',').toSorted());
    }
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
  });

  it('attaches a task for an agent on the node, with its credentials and its lease', async () => {
    eni = await lab.createEni();
    network = await cluster.api('POST', '/tasks/web-1/network', { eni: { macAddress: eni.mac }, credentials });
    expect(network).toMatchObject({ state: 'READY', sandbox: { kind: 'netns' } });
    pings = await Pings.start(lab, cluster.outside(network.sandbox.netns), gateway);
    expect(await fetchKey()).toBe('ASIAIOSFODNN7EXAMPLE');
    const lease = async () => (await cluster.api<Network>('GET', '/tasks/web-1/network')).lease.state;
    await expect.poll(lease, { timeout: 30_000 }).toBe('bound');
    expect(await inPod('task-eni', 'status')).toContain('web-1');
  });

  it.each([
    ['is upgraded as the guide says', () => cluster.shell(upgradeByGuide)],
    [
      'has no metrics any more',
      () => upgrade('--set', 'image.repository=registry.lab/task-eni', '-f', example('minimal')),
    ],
    ['is deleted', async () => kubectl('delete', await pod())],
    [
      'runs on some nodes only, as on EKS',
      () => cluster.kubectl('label', 'node', 'node', 'task-eni=true').then(() => upgrade('-f', example('eks'))),
    ],
    ['is rolled back', () => cluster.helm('rollback', 'task-eni', '-n', 'task-eni')],
  ])(
    'leaves the task its network and its credentials when the pod %s',
    async (_how, interrupt) => {
      await changesPod(interrupt);
      const now = await cluster.api('GET', '/tasks/web-1/network?verify=true');
      expect(now).toMatchObject({ state: 'READY', drift: [] });
      expect(await fetchKey()).toBe('ASIAIOSFODNN7EXAMPLE');
    },
    200_000,
  );

  it('leaves the task its network when it is uninstalled, and takes it up again when it is installed', async () => {
    await cluster.helm('uninstall', 'task-eni', '-n', 'task-eni', '--wait');
    const objects = () => kubectl('get', 'all,networkpolicies', '-o', 'name');
    await expect.poll(objects, { timeout: 60_000 }).toBe('');
    const left = await cluster.run('nsenter', `--net=${network.sandbox.netns}`, 'ip', '-o', 'address');
    expect(left).toContain(eni.ipv4Address);
    await cluster.shell(install);
    expect(await cluster.api('GET', '/tasks/web-1/network?verify=true')).toMatchObject({ state: 'READY', drift: [] });
  }, 200_000);

  it('has lost no packet of the task in all that, and detaches it', async () => {
    const { sent, lost } = await pings.stop();
    expect(sent).toBeGreaterThan(200);
    expect(lost).toBe(0);
    expect(await cluster.api('DELETE', '/tasks/web-1/network')).toMatchObject({ state: 'DETACHED' });
    const home = await lab.host.run('ip', '-o', 'link', 'show', eni.hostName);
    expect(home).toContain(eni.mac);
  });

  it('attaches a task in a pause container on a node with Docker, and leaves it its network when the pod is deleted', async () => {
    await cluster.startDocker(`${lab.directory}/pause.tar`, pauseImage, `${ecr}/pause:3.10`);
    await changesPod(() => upgrade('-f', example('docker'), '--set', 'image.repository=registry.lab/task-eni'));
    const { mac: macAddress } = await lab.createEni();
    const task = await cluster.api<Network>('POST', '/tasks/web-2/network', { eni: { macAddress } });
    expect(task).toMatchObject({ state: 'READY', sandbox: { kind: 'docker', owned: true } });
    const inTask = [`--net=/proc/${task.sandbox.pid}/ns/net`, 'ping', '-c', '1', '-W', '5', gateway];
    expect(await cluster.run('nsenter', ...inTask)).toContain('1 received');
    await changesPod(async () => kubectl('delete', await pod()));
    expect(await cluster.api('GET', '/tasks/web-2/network?verify=true')).toMatchObject({ state: 'READY', drift: [] });
    expect(await cluster.run('nsenter', ...inTask)).toContain('1 received');
    expect(await cluster.api('DELETE', '/tasks/web-2/network')).toMatchObject({ state: 'DETACHED' });
  }, 300_000);

  it("is refused with what is missing where the Prometheus operator's kinds are not, and has its objects where they are", async () => {
    const monitored = ['-f', example('monitored'), '--set', 'image.repository=registry.lab/task-eni'];
    await expect(upgrade(...monitored)).rejects.toThrow(
      /no matches for kind "ServiceMonitor".*ensure CRDs are installed first/s,
    );
    await cluster.kubectl('create', '-f', operatorKinds);
    const kinds = ['servicemonitors.monitoring.coreos.com', 'prometheusrules.monitoring.coreos.com'];
    for (const kind of kinds) await cluster.kubectl('wait', '--for=condition=Established', `crd/${kind}`);
    await upgrade(...monitored);
    const made = await kubectl('get', `${kinds.join(',')},networkpolicies,services`, '-o', 'name');
    expect(made.trim().split('\n')).toEqual([
      'servicemonitor.monitoring.coreos.com/task-eni',
      'prometheusrule.monitoring.coreos.com/task-eni',
      'networkpolicy.networking.k8s.io/task-eni',
      'service/task-eni-metrics',
    ]);
  });

  it('gives Prometheus the address of the node to scrape', async () => {
    const slices = () => kubectl('get', 'endpointslices', '-o', 'jsonpath={..addresses[0]}:{..ports[0].port}');
    await expect.poll(slices, { timeout: 60_000 }).toBe('172.31.0.10:9680');
    await cluster.shell(rollout);
    expect(await cluster.run('curl', '-sS', '--max-time', '5', 'http://172.31.0.10:9680/metrics')).toContain(
      'task_eni_eni_available',
    );
  }, 200_000);

  it('needs the label of the guide where Pod Security is enforced', async () => {
    const manifests = loadAll(await cluster.helm('get', 'manifest', 'task-eni', '-n', 'task-eni')) as Manifest[];
    const template = manifests.find(({ kind }) => kind === 'DaemonSet')?.spec.template;
    const file = `${lab.directory}/pod.json`;
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...template, metadata: { name: 'strict' } }));
    await cluster.shell(`kubectl create namespace strict
      kubectl label namespace strict pod-security.kubernetes.io/enforce=baseline
      kubectl -n strict create serviceaccount task-eni`);
    const create = () => cluster.kubectl('-n', 'strict', 'create', '--dry-run=server', '-f', file);
    await expect(create()).rejects.toThrow(/violates PodSecurity "baseline:latest": host namespaces/);
    const label = install.split('\n').find((line) => line.includes('pod-security'));
    await cluster.shell(label?.replace('namespace task-eni', 'namespace strict --overwrite') ?? '');
    expect(await create()).toContain('pod/strict created');
  });

  it('serves metrics on a node whose address is an IPv6 one', async () => {
    await cluster.moveNode(vpc.ipv6Primary);
    await changesPod(async () => kubectl('delete', await pod()));
    expect(await cluster.run('curl', '-sSg', '--max-time', '5', `http://[${vpc.ipv6Primary}]:9680/metrics`)).toContain(
      'task_eni_eni_available',
    );
  }, 200_000);
});
