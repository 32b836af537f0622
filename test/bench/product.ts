import type { Eni } from '../lab/eni.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { vpc } from '../lab/vpc.js';
import type { Contestant, Timing } from './contestant.js';

/** task-eni, asked over its socket. */
export class Product implements Contestant {
  constructor(
    readonly name: string,
    readonly eni: Eni,
    private readonly service: ServiceProcess,
    /** `all`: nothing has to be read from instance metadata. */
    private readonly given: 'all' | 'id',
  ) {}

  async attach(): Promise<Timing> {
    const { mac, ipv4Address, id } = this.eni;
    const facts = { macAddress: mac, ipv4Address, ipv4Gateway: vpc.gateway };
    const body = { eni: this.given === 'all' ? facts : { id }, dhcp: false };
    const begun = performance.now();
    const { status, body: network } = await this.service.post(this.taskId, body);
    const total = performance.now() - begun;
    if (status !== 201) throw new Error(`${this.name}: ${status} ${JSON.stringify(network)}`);
    return { total, steps: Object.fromEntries(network.steps.map(({ name, durationMs }) => [name, durationMs ?? 0])) };
  }

  async detach(): Promise<Timing> {
    const before = await this.undone();
    const begun = performance.now();
    const { status, body } = await this.service.del(this.taskId);
    const total = performance.now() - begun;
    if (status !== 200) throw new Error(`${this.name}: ${status} ${JSON.stringify(body)}`);
    const after = await this.undone();
    return { total, steps: Object.fromEntries([...after].map(([step, sum]) => [step, sum - (before.get(step) ?? 0)])) };
  }

  /** Milliseconds that undoing each step has taken since the service started: an answer tells only how long doing took. */
  private async undone(): Promise<Map<string, number>> {
    const { body } = await this.service.api<string>('GET', '/metrics');
    const lines = body.matchAll(/^\w+_step_duration_seconds_sum\{step="([\w-]+)",outcome="undone"\} (\S+)$/gm);
    return new Map(Array.from(lines, ([, step = '', seconds]) => [step, Number(seconds) * 1000]));
  }

  private get taskId(): string {
    return `bench-${this.eni.deviceNumber}`;
  }
}
