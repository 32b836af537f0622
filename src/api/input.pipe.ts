import type { PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { TaskEniError, type FieldError } from '../errors.js';
import { fieldErrors } from './field-errors.js';
import { faultOfShape } from './json-shape.js';

type Class<T> = new () => T;

/** Checks a parsed body or query against a class. Throws TaskEniError invalid-request that names each bad field. */
export function checkInput<T extends object>(input: unknown, choose: (input: unknown) => Class<T>): T {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalid('the body must be a JSON object', []);
  const fault = faultOfShape(input);
  if (fault !== undefined) throw invalid(sentence([fault]), [fault]);
  const instance = plainToInstance(choose(input), input);
  const errors = fieldErrors(
    validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false }),
  );
  if (errors.length > 0) throw invalid(sentence(errors), errors);
  return instance;
}

function sentence(errors: readonly FieldError[]): string {
  return errors.map(({ path, message }) => `${path} ${message}`).join('; ');
}

function invalid(detail: string, fields: readonly FieldError[]): TaskEniError {
  return new TaskEniError('invalid-request', detail, { fields });
}

/** {@link checkInput} as a pipe; `choose` picks the class of a union from what came. */
export class InputPipe<T extends object> implements PipeTransform<unknown, T> {
  constructor(private readonly choose: (input: unknown) => Class<T>) {}

  transform(input: unknown): T {
    return checkInput(input, this.choose);
  }
}
