import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsBoolean, IsIn } from 'class-validator';
import type { State } from '../store/record.js';
import { Fits, MayBeAbsent } from './field-validators.js';

export const states = [
  'PENDING',
  'ATTACHING',
  'READY',
  'DETACHING',
  'FAILED',
  'LOST',
  'DETACHED',
] as const satisfies State[];

const asList = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? [value] : value);
const asBoolean = ({ value }: { value: unknown }): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;
const fewEnough = { message: 'must not be given more than 32 times' };
const trueOrFalse = { message: 'must be true or false, once' };

/** Which tasks to list. */
export class TaskFilterDto {
  /** Only tasks in this state; given again, in one of these. */
  @ApiPropertyOptional({ enum: states, isArray: true, maxItems: 32 })
  @MayBeAbsent()
  @ArrayMaxSize(32, fewEnough)
  @IsIn(states, { each: true, message: `must be one of ${states.join(', ')}` })
  @Transform(asList)
  state?: State[];

  /**
   * Only tasks with this label, as `key=value`; given again, with all of these.
   * @example ["service=web"]
   */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: 32,
    items: { type: 'string', pattern: '^[^=]+=.*$', maxLength: 512 },
  })
  @MayBeAbsent()
  @ArrayMaxSize(32, fewEnough)
  @Fits(/^[^=]+=.*$/s, 512, 'a label as key=value', { each: true })
  @Transform(asList)
  label?: string[];
}

/** How to read a task's network. */
export class ReadOptionsDto {
  /** Whether the kernel is asked, and what differs listed as `drift`. */
  @MayBeAbsent()
  @IsBoolean(trueOrFalse)
  @Transform(asBoolean)
  verify?: boolean;
}

/** How to detach. */
export class DetachOptionsDto {
  /** Whether an owned sandbox is removed though other containers are joined to it. */
  @MayBeAbsent()
  @IsBoolean(trueOrFalse)
  @Transform(asBoolean)
  force?: boolean;
}

/** For what takes no options: any is refused, as an unknown field of a body is. */
export class NoOptionsDto {}
