/** What the guides tell their readers to type, as it stands there. A guide is any Markdown file of the checkout. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { inCheckout } from '../lab/checkout.js';

export interface Block {
  /** `README.md › Install`; a further one below the same heading has its number behind it. */
  readonly id: string;
  /** Behind the fence; empty when nothing is. */
  readonly language: string;
  readonly text: string;
}

export interface Guide {
  readonly file: string;
  readonly blocks: readonly Block[];
  /** Commands in running text and in tables, between backquotes. */
  readonly commands: readonly string[];
}

/** Pictures are drawn with these; no program is. */
const drawing = /[─│┌┐└┘▶◀▼]/;

/** A code span is a command when it begins with a program and has arguments, or is a script or a program named here. */
function isCommand(span: string): boolean {
  return /^[a-z.][\w./-]* \S/.test(span) || /^[\w./-]+\.(sh|mjs)$/.test(span) || /^(\.ci\/run|networkctl)$/.test(span);
}

/** Throws for code that is neither fenced nor between backquotes: nobody would notice that it is not run. */
export function readGuide(file: string, text: string): Guide {
  const blocks: Block[] = [];
  let heading = '';
  const parts = text.split(/^(```[^]*?^```$|#+ .*$)/m);
  for (const part of parts) {
    if (/^#+ /.test(part)) heading = part.replace(/^#+ /, '');
    const [, language, body] = /^```(\w*)\n([^]*?)```$/.exec(part) ?? [];
    if (language === undefined || body === undefined || (language === '' && drawing.test(body))) continue;
    const id = `${file} › ${heading}`;
    const former = blocks.filter((block) => block.id.replace(/ \(\d+\)$/, '') === id).length;
    blocks.push({ id: former === 0 ? id : `${id} (${former + 1})`, language, text: body });
  }
  const prose = parts.filter((part) => !/^```|^#+ /.test(part)).join('\n');
  if (/(^|\n)\n {4}(?! *[-*\d])/.test(prose)) throw new Error(`${file} has code that is indented: fence it`);
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
  return { file, blocks, commands: [...new Set(spans.filter(isCommand))] };
}

/** Every guide, those that are not committed yet included. */
export function guides(): Guide[] {
  // A container may see the checkout as another user's.
  const listing = [
    '-c',
    'safe.directory=*',
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
    '*.md',
  ];
  const files = execFileSync('git', listing, { cwd: inCheckout('.'), encoding: 'utf8' })
    .trim()
    .split('\n');
  return files.map((file) => readGuide(file, readFileSync(inCheckout(file), 'utf8')));
}

/** A block or a command as a guide has it now. Throws when no guide has it any more. */
export function written(what: string): string {
  const all = guides();
  const block = all.flatMap(({ blocks }) => blocks).find(({ id }) => id === what);
  if (block !== undefined) return block.text;
  if (all.some(({ commands }) => commands.includes(what))) return what;
  throw new Error(`no guide has: ${what}`);
}
