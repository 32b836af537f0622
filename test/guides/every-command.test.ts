import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { elsewhere } from './elsewhere.js';
import { type Guide, guides, readGuide } from './guide.js';
import { everyForm } from './stand-ins.js';

const read = (file: string) => readFileSync(inCheckout(file), 'utf8');
const everything = (all: readonly Guide[]) =>
  all.flatMap(({ blocks, commands }) => [...blocks.map(({ id }) => id), ...commands]);

/** What tests take from the guides, and run. */
function taken(): Set<string> {
  const files = readdirSync(inCheckout('test'), { recursive: true, encoding: 'utf8' });
  const tests = files.filter((file) => file.endsWith('.test.ts')).map((file) => read(`test/${file}`));
  const calls = tests.flatMap((text) => text.match(/\bwritten\(\s*(['"])[^\n]+?\1/g) ?? []);
  return new Set(calls.map((call) => call.replace(/^written\(\s*./, '').slice(0, -1)));
}

/** What no test takes and no list accounts for. */
function unaccounted(all: readonly Guide[]): string[] {
  const tests = taken();
  return everything(all).filter((each) => !tests.has(each) && !(each in elsewhere));
}

describe('the guides', () => {
  it('say nothing to type that is neither run as it stands nor listed with who runs it, or why nobody does', () => {
    expect(unaccounted(guides())).toEqual([]);
  });

  it('would fail here by a block or a command that nobody runs', () => {
    const text = '# New\n\nFirst `npx task-eni never`.\n\n```sh\ntrue\n```\n\n```sh\nfalse\n```\n';
    expect(unaccounted([readGuide('new.md', text)])).toEqual([
      'new.md › New',
      'new.md › New (2)',
      'npx task-eni never',
    ]);
    expect(() => readGuide('new.md', '# New\n\nAs follows:\n\n    task-eni never\n')).toThrow(/fence it/);
  });

  it('have everything that is listed', () => {
    const present = new Set(everything(guides()));
    expect(Object.keys(elsewhere).filter((each) => !present.has(each))).toEqual([]);
  });

  it.each(Object.entries(elsewhere))('have "%s" accounted for', (what, { text, by, because }) => {
    const block = guides()
      .flatMap(({ blocks }) => blocks)
      .find(({ id }) => id === what);
    expect(text).toBe(block?.text);
    for (const [file, words] of by ?? []) expect(read(file)).toContain(words);
    expect((by ?? []).length > 0 || because !== undefined).toBe(true);
  });

  it('mean by a placeholder each form that it can have', () => {
    expect(everyForm('show [taskId] [--json]')).toEqual(['show  ', 'show  --json', 'show web-1 ', 'show web-1 --json']);
  });
});
