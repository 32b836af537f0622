#!/usr/bin/env node
/**
 * Lists the licences of what `npm install --omit=dev` installs, out of a CycloneDX document on standard input:
 *
 *   deploy/package/sbom.mjs | deploy/package/licences.mjs
 *
 * Exit 1 when a package names none, or one that is not in the list of those that may be shipped with an Apache-2.0 program.
 */
import { readFileSync } from 'node:fs';

const permitted = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
]);

/** They name their licence in a form (`licenses`) that npm no longer reads. */
const olderForm = new Map([
  ['ssh2', 'MIT'],
  ['cpu-features', 'MIT'],
  ['buildcheck', 'MIT'],
  ['busboy', 'MIT'],
  ['streamsearch', 'MIT'],
]);

/** `(A OR B)` leaves the choice. */
const isPermitted = (licence) =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((each) => permitted.has(each));

const { components = [] } = JSON.parse(readFileSync(0, 'utf8'));
const byLicence = new Map();
for (const { group, name, version, licenses = [] } of components) {
  const named = licenses.map(({ license, expression }) => expression ?? license.id ?? license.name).join(' OR ');
  const licence = named || (olderForm.get(name) ?? '');
  const fullName = group === undefined ? name : `${group}/${name}`;
  byLicence.set(licence, [...(byLicence.get(licence) ?? []), `${fullName} ${version}`]);
}
const refused = [...byLicence.keys()].filter((licence) => !isPermitted(licence));
for (const [licence, packages] of [...byLicence].toSorted(([, a], [, b]) => b.length - a.length))
  process.stdout.write(
    `${licence || 'none named'} (${packages.length})\n${packages.map((each) => `  ${each}\n`).join('')}`,
  );
if (components.length === 0) refused.push('no component at all');
if (refused.length > 0) {
  process.stderr.write(`to be looked at: ${refused.map((each) => each || 'none named').join(', ')}\n`);
  process.exit(1);
}
