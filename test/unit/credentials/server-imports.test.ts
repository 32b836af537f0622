import { readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../../src/credentials/server/', import.meta.url);
const files = readdirSync(folder);

/** Only where Node itself refuses to leave root: see there. */
const onDemand: Readonly<Record<string, string[]>> = { 'privileges.ts': ['../../kernel/become-user.js'] };

describe('the server process', () => {
  it.each(files)('loads nothing but Node and its own folder in %s', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const imported = [...text.matchAll(/^(?:import|export)\b(?! type)[^;]*?from '([^']+)'/gm)].map(
      (match) => match[1] ?? '',
    );
    const strangers = imported.filter((from) => {
      if (from.startsWith('node:')) return !builtinModules.includes(from.slice('node:'.length));
      return !(from.startsWith('./') && files.includes(from.slice(2).replace(/\.js$/, '.ts')));
    });
    expect(strangers).toEqual([]);
    const later = [...text.matchAll(/\b(?:import|require)\(([^)]*)\)/g)].map((match) => match[1]?.replaceAll("'", ''));
    expect(later).toEqual(onDemand[name] ?? []);
  });
});
