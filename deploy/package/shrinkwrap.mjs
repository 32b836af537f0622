#!/usr/bin/env node
/**
 * Writes npm-shrinkwrap.json for `npm pack`: npm ignores a lock file inside a package but follows a shrinkwrap, so that
 * whoever installs the tarball gets the versions that were tested. `--remove` takes the file away again: in a checkout, npm
 * would read it instead of package-lock.json.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { productionLock } from './production-tree.mjs';

const target = new URL('../../npm-shrinkwrap.json', import.meta.url);

if (process.argv[2] === '--remove') rmSync(target, { force: true });
else writeFileSync(target, `${JSON.stringify(productionLock())}\n`);
