import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'EniCapacity', description: 'ENIs of the host; null is what is not known.' })
export class EniCapacityDto {
  /**
   * How many ENIs the instance type can have.
   * @example 3
   */
  @ApiProperty({ type: 'integer', nullable: true })
  limit: number | null;
  /**
   * Where the limit comes from.
   * @example table
   */
  @ApiProperty({ type: String, nullable: true })
  limitSource: string | null;
  /** Why the limit is not known; null when it is. */
  @ApiProperty({ type: String, nullable: true })
  limitCause: string | null;
  /**
   * How many the host has now, the primary one and foreign ones included.
   * @example 2
   */
  @ApiProperty({ type: 'integer', nullable: true })
  attached: number | null;
  /**
   * How many of them serve tasks.
   * @example 1
   */
  @ApiProperty({ type: 'integer' })
  tasks: number;
  /**
   * How many more the host can have.
   * @example 1
   */
  @ApiProperty({ type: 'integer', nullable: true })
  available: number | null;
}

@ApiSchema({ name: 'LinkLocalPool', description: 'The pool of link-local addresses.' })
export class LinkLocalPoolDto {
  /** @example 169.254.172.0/22 */
  subnet: string;
  /** @example 1021 */
  @ApiProperty({ type: 'integer' })
  capacity: number;
  /** @example 1 */
  @ApiProperty({ type: 'integer' })
  allocated: number;
}

@ApiSchema({
  name: 'Orphan',
  description:
    "What bears this instance's mark though no record knows it, and is still in use; a DELETE or POST of its task settles it.",
})
export class OrphanDto {
  /**
   * The task, when the mark tells.
   * @example web-1
   */
  @ApiProperty({ type: String, nullable: true })
  taskId: string | null;
  /** What it is and why it stays. */
  detail: string;
}

@ApiSchema({ name: 'Host', description: 'This host; null is what is not known.' })
export class HostReportDto {
  /** @example i-0123456789abcdef0 */
  @ApiProperty({ type: String, nullable: true })
  instanceId: string | null;
  /** @example m5.large */
  @ApiProperty({ type: String, nullable: true })
  instanceType: string | null;
  /** @example us-west-2a */
  @ApiProperty({ type: String, nullable: true })
  availabilityZone: string | null;
  /** @example us-west-2 */
  @ApiProperty({ type: String, nullable: true })
  region: string | null;
  /**
   * Version of the service.
   * @example 0.1.0
   */
  version: string;
  /** Which sandboxes the service makes. */
  @ApiProperty({ enum: ['docker', 'netns'] })
  sandbox: 'docker' | 'netns';
  eni: EniCapacityDto;
  linkLocal: LinkLocalPoolDto;
  orphans: OrphanDto[];
}
