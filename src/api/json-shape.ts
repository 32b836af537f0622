/** Refuses JSON that would confuse what reads it next: too deep, too wide, or with keys that every object inherits. Pure. */
import type { FieldError } from '../errors.js';

/** The deepest object of any request is at depth 3 (`credentials.tags`). */
const deepest = 8;
/** More than any list or object of a request may have; checking each of thousands would hold up every other caller. */
const widest = 100;

/**
 * The first fault in the shape of parsed JSON. `__proto__` and its like are legal keys for JSON.parse, yet the libraries that
 * check a body drop them in silence or take them for known fields; and what nests without bound exhausts the stack.
 */
export function faultOfShape(json: unknown): FieldError | undefined {
  const waiting: { value: unknown; path: string; depth: number }[] = [{ value: json, path: '', depth: 0 }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    if (at.depth > deepest) return { path: at.path, message: 'is nested too deeply' };
    const entries = Object.entries(at.value);
    if (entries.length > widest) return { path: at.path, message: `must not have more than ${widest} entries` };
    for (const [key, value] of entries) {
      const path = Array.isArray(at.value) ? `${at.path}[${key}]` : joinPath(at.path, key);
      if (!Array.isArray(at.value) && key in Object.prototype) return { path, message: 'is not a known field' };
      waiting.push({ value, path, depth: at.depth + 1 });
    }
  }
  return undefined;
}

/** `eni` and `macAddress` give `eni.macAddress`; a caller's own key is cut at 100 characters. */
export function joinPath(parent: string, key: string): string {
  const name = key.length > 100 ? `${key.slice(0, 100)}…` : key;
  return parent === '' ? name : `${parent}.${name}`;
}
