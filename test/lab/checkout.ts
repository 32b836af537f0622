import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function isCheckout(directory: string): boolean {
  const file = join(directory, 'package.json');
  return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'task-eni';
}

function checkoutAbove(directory: string): string | undefined {
  if (isCheckout(directory)) return directory;
  return dirname(directory) === directory ? undefined : checkoutAbove(dirname(directory));
}

/** A path of the project: found from this file, or from the working directory when this file was compiled elsewhere. */
export function inCheckout(path: string): string {
  const root = checkoutAbove(dirname(fileURLToPath(import.meta.url))) ?? checkoutAbove(process.cwd());
  if (root === undefined)
    throw new Error(`neither ${import.meta.url} nor ${process.cwd()} is in a checkout of task-eni`);
  return join(root, path);
}
