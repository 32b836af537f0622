import { readFileSync, readdirSync } from 'node:fs';
import { load, loadAll } from 'js-yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { chartFolder, helm, missingForChart, render, validate } from './chart.js';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Record<string, unknown>;
  readonly data: Record<string, string>;
}
interface Pod {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly containers: [{ env: { name: string; value: string }[]; volumeMounts: Record<string, string>[] }];
}

const missing = missingForChart();
const examples = readdirSync(`${chartFolder}/examples`).map((file) => `${chartFolder}/examples/${file}`);
const operatorKinds = ['PrometheusRule', 'ServiceMonitor'];
const parse = (text: string) => (loadAll(text) as (Manifest | null)[]).filter((each) => each !== null);
function podOf(manifests: Manifest[]): Pod {
  const set = manifests.find(({ kind }) => kind === 'DaemonSet');
  if (set === undefined) throw new Error('there is no DaemonSet');
  return (set.spec['template'] as { spec: Pod }).spec;
}

describe.skipIf(missing !== undefined)(`the chart${missing ? ` (${missing})` : ''}`, () => {
  describe.each([
    { name: 'the defaults', args: [] as string[] },
    ...examples.map((file) => ({ name: file.slice(chartFolder.length + 1), args: ['-f', file] })),
  ])('with $name', ({ args }) => {
    let text: string;
    let manifests: Manifest[];
    beforeAll(async () => {
      text = await render(...args);
      manifests = parse(text);
    });

    it('is sound to helm', async () => {
      expect(await helm('lint', '--strict', chartFolder, ...args)).toMatch(/0 chart\(s\) failed/);
    });

    it.each(['1.25', '1.37'])(
      'renders manifests that Kubernetes %s takes, with nothing unknown in them',
      async (version) => {
        const lines = await validate(text, version);
        const passed = lines.filter((line) => line.startsWith('INFO passed'));
        const ofOperator = manifests.filter(({ kind }) => operatorKinds.includes(kind));
        expect(passed).toHaveLength(manifests.length - ofOperator.length);
        expect(
          lines.filter(
            (line) => !line.startsWith('INFO passed') && !operatorKinds.some((kind) => line.includes(`kind ${kind}`)),
          ),
        ).toEqual([]);
      },
    );

    it('puts everything into the namespace of the release, and asks for no right in the cluster', () => {
      expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['tasks']));
      expect(manifests.filter(({ kind }) => /Role|Binding/.test(kind))).toEqual([]);
      expect(podOf(manifests).automountServiceAccountToken).toBe(false);
    });
  });

  it('lets pinned namespaces reach the node, so that tasks outlive the pod', async () => {
    const [container] = podOf(parse(await render())).containers;
    const pins = container.volumeMounts.find(({ mountPath }) => mountPath === '/run/netns');
    expect(pins).toMatchObject({ mountPropagation: 'Bidirectional' });
  });

  it('has the rules and the dashboard of deploy/ in it', async () => {
    const manifests = parse(await render('-f', `${chartFolder}/examples/monitored.yaml`));
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule');
    const groups = ['rules', 'alerts'].flatMap((name) => {
      const file = readFileSync(inCheckout(`deploy/prometheus/${name}.yml`), 'utf8');
      return (load(file) as { groups: unknown[] }).groups;
    });
    expect(rule?.spec).toEqual({ groups });
    const dashboard = manifests.find(({ kind }) => kind === 'ConfigMap')?.data['task-eni.json'] ?? '';
    expect(JSON.parse(dashboard)).toEqual(JSON.parse(readFileSync(inCheckout('deploy/grafana/task-eni.json'), 'utf8')));
  });

  it('has Prometheus call the job task-eni, as rules and dashboard do', async () => {
    const manifests = parse(await render('-f', `${chartFolder}/examples/monitored.yaml`));
    expect(manifests.find(({ kind }) => kind === 'ServiceMonitor')).toMatchObject({
      metadata: { labels: { release: 'prometheus' } },
      spec: {
        jobLabel: 'app.kubernetes.io/name',
        selector: { matchLabels: { 'app.kubernetes.io/name': 'task-eni', 'app.kubernetes.io/instance': 'eni' } },
        endpoints: [{ port: 'metrics', path: '/metrics', interval: '15s' }],
      },
    });
  });

  it('serves metrics at the address of the node, of whichever family it is', async () => {
    const [container] = podOf(parse(await render())).containers;
    expect(container.env).toContainEqual({ name: 'TASK_ENI_METRICS_ADDRESS', value: '[$(HOST_IP)]:9680' });
  });

  it('hands settings to the service', async () => {
    const [container] = podOf(parse(await render('--set', 'settings.TASK_ENI_LOG_LEVEL=debug'))).containers;
    expect(container.env).toContainEqual({ name: 'TASK_ENI_LOG_LEVEL', value: 'debug' });
  });

  it.each([
    ['sandbox=podman', /'\/sandbox': value must be one of 'netns', 'docker'/],
    ['settings.TASK_ENI_SANDBOX=netns', /'\/settings': additional properties 'TASK_ENI_SANDBOX' not allowed/],
    ['settings.TASK_ENI_LOGLEVEL=debug', /'\/settings': additional properties 'TASK_ENI_LOGLEVEL' not allowed/],
    ['metrics.port=70000', /'\/metrics\/port': maximum: got 70,000, want 65,535/],
    ['hostPaths.state=var/lib', /'\/hostPaths\/state': 'var\/lib' does not match pattern/],
    ['maxUnavailable=0', /'\/maxUnavailable'/],
    ['dhcp=often', /'\/dhcp': got string, want boolean/],
    ['replicas=2', /additional properties 'replicas' not allowed/],
  ])('refuses %s, and says why', async (value, reason) => {
    await expect(render('--set', value)).rejects.toThrow(reason);
  });
});
