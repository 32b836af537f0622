import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { ErrorCode } from '../errors.js';
import { errorCodes } from './network.dto.js';

@ApiSchema({ name: 'FieldError', description: 'A field that is not as it must be.' })
export class FieldErrorDto {
  /** @example eni.macAddress */
  path: string;
  /** @example must be the hardware address of one interface, such as 02:00:00:00:00:01 */
  message: string;
}

@ApiSchema({ name: 'Problem', description: 'An error, as RFC 9457 has it.' })
export class ProblemDto {
  /**
   * A name for the kind of error.
   * @example urn:task-eni:problem:task-exists
   */
  type: string;
  /** The kind of error in words. */
  title: string;
  /** The HTTP status. */
  @ApiProperty({ type: 'integer' })
  status: number;
  /** A sentence about this one case. */
  detail: string;
  /** What a program decides by. */
  @ApiProperty({ enum: errorCodes, enumName: 'ErrorCode' })
  code: ErrorCode;
  /** @example web-1 */
  taskId?: string;
  /** The step of the plan that failed. */
  step?: string;
  /** Each bad field of the request. */
  @ApiPropertyOptional({ type: () => [FieldErrorDto] })
  errors?: FieldErrorDto[];
}
