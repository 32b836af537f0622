import { chmodSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const source = new URL('../../src/credentials/server/', import.meta.url).pathname;
const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };

/**
 * Compiles the server alone into a folder that only root can enter, as a checkout under /root is, and gives its entry.
 * Nothing but what lies in the one source folder is compiled, so an import from elsewhere ends the server at its start.
 */
export function compileServer(parent: string): string {
  const folder = mkdtempSync(join(parent, 'server-'));
  chmodSync(folder, 0o700);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of readdirSync(source)) {
    const { outputText } = ts.transpileModule(readFileSync(join(source, name), 'utf8'), { compilerOptions });
    writeFileSync(join(folder, name.replace(/\.ts$/, '.js')), outputText);
  }
  return join(folder, 'main.js');
}
