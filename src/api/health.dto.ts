import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** The process answers. */
@ApiSchema({ name: 'Health' })
export class HealthDto {
  status: 'ok';
}

/** One part of the service. */
@ApiSchema({ name: 'Part' })
export class PartDto {
  status: 'up' | 'down';
  /** Why it is down; null when it is up. */
  @ApiProperty({ type: String, nullable: true })
  detail: string | null;
}

/** Whether the service can do its work, each part of it named. */
@ApiSchema({ name: 'Readiness' })
export class ReadinessDto {
  status: 'ready' | 'not-ready';
  @ApiProperty({ type: 'object', additionalProperties: { $ref: '#/components/schemas/Part' } })
  parts: Record<string, PartDto>;
}
