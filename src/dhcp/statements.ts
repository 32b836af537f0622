/** A statement of ISC's file syntax: words up to `;`, or words before a `{ … }` block. */
export interface Statement {
  readonly words: readonly string[];
  readonly body?: readonly Statement[];
}

/** A quoted string with its escapes, a comment, a mark, or a run of anything else. */
const token = /"(?:[^"\\]|\\[^])*"|#[^\n]*|[{};]|[^\s{};"#]+/g;

/**
 * Reads the syntax of dhclient.leases(5). A server chooses what stands in the quoted strings, so braces in them count for
 * nothing. The file may be read while it is written: a statement that has no end yet is left out.
 */
export function parseStatements(text: string): Statement[] {
  const root: Statement[] = [];
  const open: { words: string[]; statements: Statement[] }[] = [];
  let statements = root;
  let words: string[] = [];
  for (const [found] of text.matchAll(token)) {
    if (found === ';') {
      if (words.length > 0) statements.push({ words });
      words = [];
    } else if (found === '{') {
      open.push({ words, statements });
      statements = [];
      words = [];
    } else if (found === '}') {
      const parent = open.pop();
      if (parent === undefined) continue;
      parent.statements.push({ words: parent.words, body: statements });
      statements = parent.statements;
      words = [];
    } else if (!found.startsWith('#')) words.push(found);
  }
  return root;
}
