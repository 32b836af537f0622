import type { Network } from '../lab/answers.js';
import type { Eni } from '../lab/eni.js';
import type { ServiceProcess } from '../lab/service.js';
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
    const answer = await this.service.post(this.taskId, body);
    return this.timing(begun, answer, 201);
  }

  async detach(): Promise<Timing> {
    const begun = performance.now();
    return this.timing(begun, await this.service.del(this.taskId), 200);
  }

  private get taskId(): string {
    return `bench-${this.eni.deviceNumber}`;
  }

  private timing(begun: number, { status, body }: { status: number; body: Network }, wanted: number): Timing {
    const total = performance.now() - begun;
    if (status !== wanted) throw new Error(`${this.name}: ${status} ${JSON.stringify(body)}`);
    return { total, steps: Object.fromEntries(body.steps.map(({ name, durationMs }) => [name, durationMs ?? 0])) };
  }
}
