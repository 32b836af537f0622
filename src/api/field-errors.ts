/** class-validator's tree of errors as the flat list of a problem document. Pure. */
import type { ValidationError } from 'class-validator';
import type { FieldError } from '../errors.js';
import { joinPath } from './json-shape.js';

/** Nobody reads more, and a body of unknown fields must not be answered with a larger one. */
const most = 50;

export function fieldErrors(errors: readonly ValidationError[], parent = ''): FieldError[] {
  return errors
    .flatMap((error) => {
      const path = joinPath(parent, error.property);
      const message = messageOf(error);
      const own = message === undefined ? [] : [{ path, message }];
      return [...own, ...fieldErrors(error.children ?? [], path)];
    })
    .slice(0, most);
}

/** One sentence a field: the first check that failed, which is the one nearest to the property in its class. */
function messageOf({ constraints = {} }: ValidationError): string | undefined {
  if ('whitelistValidation' in constraints) return 'is not a known field';
  return Object.values(constraints)[0];
}
