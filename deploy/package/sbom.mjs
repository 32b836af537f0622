#!/usr/bin/env node
/**
 * Writes what the package brings to a host, as CycloneDX to standard output. npm writes it, about a folder that holds
 * nothing but the production tree: `npm sbom --omit=dev` in a checkout leaves out what development needs as well.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { productionLock, productionManifest } from './production-tree.mjs';

const folder = mkdtempSync(join(tmpdir(), 'task-eni-sbom-'));
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(productionManifest()));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(productionLock()));
  const options = ['--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  execFileSync('npm', ['sbom', ...options], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
} finally {
  rmSync(folder, { recursive: true });
}
