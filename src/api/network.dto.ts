/** The network of a task as callers see it. */
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { errorTable, type ErrorCode } from '../errors.js';
import type { StepKind, StepState, WaitKind } from '../steps/step.js';
import type { State } from '../store/record.js';
import { states } from './query.dto.js';

const stepNames = [
  'wait-for-eni',
  'read-metadata',
  'reserve-address',
  'prepare-sandbox',
  'clear-host-config',
  'connect-bridge',
  'move-eni',
  'configure-eni',
  'register-credentials',
  'start-dhcp',
] as const satisfies (StepKind | WaitKind)[];
const stepStates = ['pending', 'running', 'done', 'failed', 'undone'] as const satisfies StepState[];
export const errorCodes = Object.keys(errorTable) as ErrorCode[];
const leaseStates = ['starting', 'bound', 'renewing', 'expired', 'failed', 'off'] as const;

@ApiSchema({ name: 'Sandbox', description: "What holds the task's network namespace open." })
export class SandboxViewDto {
  @ApiProperty({ enum: ['docker', 'pid', 'netns'] })
  kind: 'docker' | 'pid' | 'netns';
  /** @example 4f1c2d3e4b5a */
  @ApiProperty({ type: String, nullable: true })
  containerId: string | null;
  /** @example 4711 */
  @ApiProperty({ type: 'integer', nullable: true })
  pid: number | null;
  /**
   * Path by which the namespace can be opened while it lives.
   * @example /proc/4711/ns/net
   */
  netns: string;
  /** Whether the service made it, and removes it at the detach. */
  owned: boolean;
}

@ApiSchema({
  name: 'Eni',
  description: 'The ENI in the task; null is what is not known yet or what the ENI does not have.',
})
export class EniViewDto {
  /** @example eni-0123456789abcdef0 */
  @ApiProperty({ type: String, nullable: true })
  id: string | null;
  /** @example 02:00:00:00:00:01 */
  @ApiProperty({ type: String, nullable: true })
  macAddress: string | null;
  /**
   * Name of the link in the task.
   * @example eth0
   */
  @ApiProperty({ type: String, nullable: true })
  interface: string | null;
  /**
   * Name of the link on the host: before the attach, and after a detach where it is now.
   * @example eth1
   */
  @ApiProperty({ type: String, nullable: true })
  hostInterface: string | null;
  /** @example 172.31.13.14/20 */
  @ApiProperty({ type: String, nullable: true })
  ipv4Address: string | null;
  /** @example 172.31.0.1 */
  @ApiProperty({ type: String, nullable: true })
  ipv4Gateway: string | null;
  /** @example 2001:db8:1::5/64 */
  @ApiProperty({ type: String, nullable: true })
  ipv6Address: string | null;
  /**
   * Null until learnt from a router advertisement, when nobody gave it.
   * @example fe80::1
   */
  @ApiProperty({ type: String, nullable: true })
  ipv6Gateway: string | null;
  /**
   * Bytes.
   * @example 9001
   */
  @ApiProperty({ type: 'integer', nullable: true })
  mtu: number | null;
}

@ApiSchema({
  name: 'LinkLocal',
  description: "The task's way to its credentials: a port of the bridge and an address on it.",
})
export class LinkLocalDto {
  /** @example ecs-eni */
  bridge: string;
  /**
   * The port on the bridge.
   * @example ve1f2e3d4c5b
   */
  hostInterface: string;
  /**
   * Name of the link in the task.
   * @example ecs-eth0
   */
  interface: string;
  /** @example 169.254.172.2 */
  ipv4Address: string;
}

@ApiSchema({ name: 'Lease', description: "The DHCP client that renews the lease of the ENI's addresses." })
export class LeaseDto {
  @ApiProperty({ enum: ['dhclient', null], nullable: true, type: String })
  client: 'dhclient' | null;
  @ApiProperty({ enum: leaseStates, enumName: 'LeaseState' })
  state: (typeof leaseStates)[number];
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expiresAt: string | null;
}

@ApiSchema({ name: 'Credentials', description: "The task's IAM credentials, without their secrets." })
export class CredentialsViewDto {
  @ApiProperty({ enum: ['assume-role', 'pushed'] })
  source: 'assume-role' | 'pushed';
  /** @example arn:aws:iam::123456789012:role/app */
  roleArn: string;
  /**
   * What containers ask 169.254.170.2 for; null until registered.
   * @example /v2/credentials/0f8fad5b-d9cb-469f-a165-70867728950e
   */
  @ApiProperty({ type: String, nullable: true })
  relativeUri: string | null;
  /** When the present set ends; null while there is none. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expiration: string | null;
}

@ApiSchema({ name: 'Step', description: 'One step of the attach.' })
export class StepDto {
  @ApiProperty({ enum: stepNames, enumName: 'StepName' })
  name: StepKind | WaitKind;
  @ApiProperty({ enum: stepStates, enumName: 'StepState' })
  state: StepState;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  startedAt: string | null;
  /**
   * Milliseconds.
   * @example 18.2
   */
  @ApiProperty({ type: Number, nullable: true })
  durationMs: number | null;
}

@ApiSchema({ name: 'NetworkError', description: 'Why the task is FAILED or LOST.' })
export class NetworkErrorDto {
  @ApiProperty({ enum: errorCodes, enumName: 'ErrorCode' })
  code: ErrorCode;
  /** A sentence about this one case. */
  detail: string;
  /** The step that failed. */
  @ApiProperty({ type: String, nullable: true })
  step: string | null;
}

@ApiSchema({ name: 'Network', description: 'The network of one task.' })
export class NetworkDto {
  /** @example web-1 */
  taskId: string;
  /** PENDING: link and metadata are awaited, nothing is changed yet. FAILED and LOST: all is released. DETACHED: only in the answer to DELETE. */
  @ApiProperty({ enum: states, enumName: 'NetworkState' })
  state: State;
  /**
   * What the agent gives the task's containers as their network: `container:<id>`, or `ns:<path>`; null until the sandbox is there.
   * @example container:4f1c2d3e4b5a
   */
  @ApiProperty({ type: String, nullable: true })
  networkMode: string | null;
  /** @example {"service":"web"} */
  labels: Record<string, string>;
  @ApiProperty({ type: () => SandboxViewDto, nullable: true })
  sandbox: SandboxViewDto | null;
  eni: EniViewDto;
  @ApiProperty({ type: () => LinkLocalDto, nullable: true })
  linkLocal: LinkLocalDto | null;
  blockInstanceMetadata: boolean;
  lease: LeaseDto;
  @ApiProperty({ type: () => CredentialsViewDto, nullable: true })
  credentials: CredentialsViewDto | null;
  /**
   * What the agent adds to the environment of the task's containers.
   * @example {"AWS_REGION":"us-west-2"}
   */
  environment: Record<string, string>;
  steps: StepDto[];
  @ApiProperty({ format: 'date-time' })
  createdAt: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readyAt: string | null;
  /**
   * Milliseconds from the request to READY, waiting included.
   * @example 23.4
   */
  @ApiProperty({ type: Number, nullable: true })
  attachMs: number | null;
  warnings: string[];
  @ApiProperty({ type: () => NetworkErrorDto, nullable: true })
  error: NetworkErrorDto | null;
  /** What in the kernel differs from what was set up; only with `verify=true`. */
  @ApiPropertyOptional({ type: [String] })
  drift?: string[];
}

@ApiSchema({ name: 'TaskList', description: 'The tasks of this host.' })
export class TaskListDto {
  tasks: NetworkDto[];
}
