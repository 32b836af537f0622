/** What `npm install --omit=dev` resolves, as a manifest and a lock file of their own. */
import { readFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

/** package-lock.json without what only development needs. */
export function productionLock() {
  const lock = read('package-lock.json');
  // devOptional: needed for development, and by a package of production only where somebody else installs it.
  const needed = Object.entries(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional);
  const packages = Object.fromEntries(needed);
  return { ...lock, packages: { ...packages, '': withoutDevelopment(packages['']) } };
}

export function productionManifest() {
  return withoutDevelopment(read('package.json'));
}

function withoutDevelopment(manifest) {
  const kept = { ...manifest };
  for (const name of ['devDependencies', 'scripts']) delete kept[name];
  return kept;
}
