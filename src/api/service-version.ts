import { existsSync, readFileSync } from 'node:fs';

/** As package.json has it: two folders up from here, one when all is bundled into one file. */
export const serviceVersion: string = readVersion(['../../package.json', '../package.json']);

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    const url = new URL(place, import.meta.url);
    if (!existsSync(url)) continue;
    const { name, version } = JSON.parse(readFileSync(url, 'utf8')) as { name?: string; version?: string };
    if (name === 'task-eni' && version !== undefined) return version;
  }
  throw new Error(`package.json is not where it should be beside ${import.meta.url}`);
}
