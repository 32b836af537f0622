/** What the demo writes: headings, sentences, commands and their output. Colours only on a terminal (no-color.org). */
const coloured = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint = (code: number) => (text: string) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint(1);
const dim = paint(2);
const green = paint(32);
const red = paint(31);
const cyan = paint(36);

const write = (line: string) => void process.stdout.write(`${line}\n`);

export function title(text: string): void {
  write(bold(text));
}

export function heading(text: string): void {
  write(`\n${bold(text)}`);
}

/** A sentence that says what happens, or why. */
export function say(text: string): void {
  write(`  ${text}`);
}

/** The last word. */
export function conclude(text: string): void {
  write(`\n${bold(text)}`);
}

export function blank(): void {
  write('');
}

/** A command as it is run, for whoever wants to repeat it. */
export function command(text: string): void {
  write(`\n  ${cyan('$')} ${dim(text)}`);
}

export function output(text: string): void {
  for (const line of text.trimEnd().split('\n')) write(`      ${line}`);
}

/** Something that must hold; throws when it does not, so that the demo never claims what it did not see. */
export function check(holds: boolean, text: string): void {
  write(`  ${holds ? green('ok') : red('FAILED')}  ${text}`);
  if (!holds) throw new Error(`the demo expected: ${text}`);
}

/** Why the demo could not go on. */
export function complain(text: string): void {
  process.stderr.write(`\n${red('The demo failed:')} ${text}\n`);
}

export function table(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    write(`      ${cells.join('   ')}`);
  }
}

export function places(entries: readonly (readonly [string, string])[]): void {
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, where] of entries) write(`  ${name.padEnd(width)}   ${where}`);
}
