/** Property decorators that class-validator does not have. Their messages never repeat the value: it may be a secret. */
import { ValidateBy, ValidateIf, type ValidationOptions } from 'class-validator';

/** The field may be left out. Unlike class-validator's IsOptional, null is a value and goes through the checks. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}

/** The field is a string for which `read` finds a meaning; `wanted` ends the sentence "must be …". */
export function Reads(
  read: (text: string) => unknown,
  wanted: string,
  options: ValidationOptions = {},
): PropertyDecorator {
  return ValidateBy(
    {
      name: 'reads',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && read(value) !== undefined,
        defaultMessage: () => `${options.each ? 'each must be' : 'must be'} ${wanted}`,
      },
    },
    options,
  );
}

/** Like {@link Reads} for a regular expression and a greatest length. */
export function Fits(
  pattern: RegExp,
  longest: number,
  wanted: string,
  options: ValidationOptions = {},
): PropertyDecorator {
  return Reads((text) => (text.length <= longest && pattern.test(text) ? text : undefined), wanted, options);
}

/** An object of which exactly one of `keys` is set. */
export function HasOneOf(...keys: readonly string[]): PropertyDecorator {
  return ValidateBy({
    name: 'hasOneOf',
    validator: {
      validate: (value: unknown) => isObject(value) && keys.filter((key) => value[key] !== undefined).length === 1,
      defaultMessage: () => `must be an object with exactly one of ${keys.join(', ')}`,
    },
  });
}

/** An object of which at least one of `keys` is set. */
export function HasAnyOf(...keys: readonly string[]): PropertyDecorator {
  return ValidateBy({
    name: 'hasAnyOf',
    validator: {
      validate: (value: unknown) => isObject(value) && keys.some((key) => value[key] !== undefined),
      defaultMessage: () => `must be an object with ${keys.join(' or ')}`,
    },
  });
}

/** The field contradicts another one of the same object; `clash` gets that object. */
export function NotWith(clash: (object: Record<string, unknown>) => boolean, sentence: string): PropertyDecorator {
  return ValidateBy({
    name: 'notWith',
    validator: {
      validate: (_value: unknown, at) => !clash(at?.object as Record<string, unknown>),
      defaultMessage: () => sentence,
    },
  });
}

export interface MapLimits {
  readonly entries: number;
  readonly key: RegExp;
  readonly keyLength: number;
  readonly valueLength: number;
  readonly value?: RegExp;
}

/** An object whose keys and values are strings within `limits`. */
export function IsStringMap(limits: MapLimits): PropertyDecorator {
  return ValidateBy({
    name: 'isStringMap',
    validator: {
      validate: (value: unknown) => faultOfMap(value, limits) === undefined,
      defaultMessage: (at) => faultOfMap(at?.value, limits) ?? '',
    },
  });
}

function faultOfMap(map: unknown, limits: MapLimits): string | undefined {
  if (!isObject(map)) return 'must be an object whose values are strings';
  const entries = Object.entries(map);
  if (entries.length > limits.entries) return `must not have more than ${limits.entries} entries`;
  for (const [key, value] of entries) {
    const shown = JSON.stringify(key.slice(0, 80));
    if (key.length > limits.keyLength || !limits.key.test(key)) return `${shown} cannot be a key`;
    if (typeof value !== 'string') return `the value of ${shown} must be a string`;
    if (value.length > limits.valueLength) return `the value of ${shown} is longer than ${limits.valueLength}`;
    if (limits.value !== undefined && !limits.value.test(value))
      return `the value of ${shown} has a character that is not allowed`;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
