import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../lab/lab.js';

const rules = ['rules.yml', 'alerts.yml'].map(
  (name) => new URL(`../../deploy/prometheus/${name}`, import.meta.url).pathname,
);
const address = '127.0.0.1:9090';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Debian's Prometheus in the lab's host, scraping the service there every second, with the rules of deploy/. */
export class PrometheusServer {
  private constructor(
    private readonly lab: Lab,
    private readonly child: ChildProcess,
  ) {}

  static async start(lab: Lab, target: string): Promise<PrometheusServer> {
    const folder = `${lab.directory}/prometheus`;
    mkdirSync(folder, { recursive: true });
    // JSON is YAML.
    const configuration = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: rules,
      scrape_configs: [{ job_name: 'task-eni', static_configs: [{ targets: [target] }] }],
    };
    writeFileSync(`${folder}/prometheus.yml`, JSON.stringify(configuration));
    const log = openSync(`${folder}/log`, 'a');
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
    ];
    const child = lab.host.start('prometheus', args, { stdio: ['ignore', log, log] });
    closeSync(log);
    const server = new PrometheusServer(lab, child);
    await server.becomesReady(`${folder}/log`);
    return server;
  }

  /** The instant vector of an expression. */
  async query(expression: string): Promise<Sample[]> {
    const url = `http://${address}/api/v1/query`;
    const text = await this.lab.host.run('curl', '-sS', '--data-urlencode', `query=${expression}`, url);
    const answer = JSON.parse(text) as {
      status: string;
      error?: string;
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  /** The only value of an expression; undefined when there is none. */
  async value(expression: string): Promise<number | undefined> {
    const samples = await this.query(expression);
    if (samples.length > 1) throw new Error(`${expression} has ${samples.length} values`);
    return samples[0]?.value;
  }

  /** Resolves after the next two scrapes: whatever has happened by now is in them. */
  async scrapedAgain(): Promise<void> {
    const started = Date.now() / 1000;
    const deadline = Date.now() + 15_000;
    while (Date.now() < deadline) {
      const at = await this.value('min(timestamp(up{job="task-eni"}))');
      if (at !== undefined && at > started + 1) return;
      await sleep(200);
    }
    throw new Error('Prometheus does not scrape the service');
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }

  private async becomesReady(log: string): Promise<void> {
    const deadline = Date.now() + 20_000;
    while (this.child.exitCode === null && Date.now() < deadline) {
      const text = await this.lab.host.run('sh', '-c', `curl -s http://${address}/-/ready || true`);
      if (text.includes('Ready')) return;
      await sleep(100);
    }
    throw new Error(`Prometheus is not ready\n${readFileSync(log, 'utf8').slice(-2000)}`);
  }
}
