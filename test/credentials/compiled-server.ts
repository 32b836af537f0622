import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { inCheckout } from '../lab/checkout.js';

const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };

/**
 * Compiles the server alone into a folder that only root can enter, as a checkout under /root is, and gives its entry.
 * Nothing but what lies in the one source folder is compiled, and what it imports where Node refuses to change its user: an
 * import from elsewhere ends the server at its start.
 */
export function compileServer(parent: string): string {
  const folder = mkdtempSync(join(parent, 'server-'));
  chmodSync(folder, 0o700);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(inCheckout('node_modules'), join(folder, 'node_modules'));
  for (const name of readdirSync(inCheckout('src/credentials/server'))) compile(folder, `credentials/server/${name}`);
  for (const name of ['become-user.ts', 'errno.ts']) compile(folder, `kernel/${name}`);
  return join(folder, 'credentials/server/main.js');
}

function compile(folder: string, name: string): void {
  const { outputText } = ts.transpileModule(readFileSync(inCheckout(`src/${name}`), 'utf8'), { compilerOptions });
  mkdirSync(join(folder, dirname(name)), { recursive: true });
  writeFileSync(join(folder, name.replace(/\.ts$/, '.js')), outputText);
}
