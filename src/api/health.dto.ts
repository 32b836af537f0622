import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'Health', description: 'The process answers.' })
export class HealthDto {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

@ApiSchema({ name: 'Part', description: 'One part of the service.' })
export class PartDto {
  @ApiProperty({ enum: ['up', 'down'] })
  status: 'up' | 'down';
  /** Why it is down; null when it is up. */
  @ApiProperty({ type: String, nullable: true })
  detail: string | null;
}

@ApiSchema({ name: 'Readiness', description: 'Whether the service can do its work, each part of it named.' })
export class ReadinessDto {
  @ApiProperty({ enum: ['ready', 'not-ready'] })
  status: 'ready' | 'not-ready';
  @ApiProperty({ type: 'object', additionalProperties: { $ref: '#/components/schemas/Part' } })
  parts: Record<string, PartDto>;
}
