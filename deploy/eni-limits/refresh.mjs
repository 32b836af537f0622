#!/usr/bin/env node
// Brings the table of ENI limits up to date from what EC2 says:
//
//   aws ec2 describe-instance-types --region us-east-1 > types.json
//   aws ec2 describe-instance-types --region eu-central-1 >> types.json
//   node deploy/eni-limits/refresh.mjs src/capacity/eni-limits.json < types.json
//
// The input is one or more JSON documents of DescribeInstanceTypes, one after the other: pages, regions. EC2 does not
// say how many branch ENIs a type has, nor does it speak of types that the asked regions do not have: both stay as they
// were in the table. A region that contradicts another is an error, and the table is left alone.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Splits JSON documents that follow each other without a separator. */
function parseDocuments(text) {
  const documents = [];
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      if (depth === 0) start = index;
      depth += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) documents.push(JSON.parse(text.slice(start, index + 1)));
    }
  }
  if (depth !== 0 || documents.length === 0)
    throw new Error('the input is not JSON of DescribeInstanceTypes, or is cut short');
  return documents;
}

/** `maxEnis` counts the interfaces of all network cards, as NetworkInfo.MaximumNetworkInterfaces does. */
function readType({ InstanceType: name, NetworkInfo: network }) {
  const maxEnis = network?.MaximumNetworkInterfaces;
  if (typeof name !== 'string' || !Number.isInteger(maxEnis) || maxEnis < 1)
    throw new Error(`${name ?? 'an instance type without a name'} has no NetworkInfo.MaximumNetworkInterfaces`);
  return { name, maxEnis, cards: network.MaximumNetworkCards ?? network.NetworkCards?.length ?? 1 };
}

function readTypes(documents) {
  const types = new Map();
  for (const document of documents) {
    if (!Array.isArray(document.InstanceTypes)) throw new Error('a document of the input has no InstanceTypes');
    for (const { name, maxEnis, cards } of document.InstanceTypes.map(readType)) {
      const other = types.get(name);
      if (other !== undefined && (other.maxEnis !== maxEnis || other.cards !== cards))
        throw new Error(`${name} has ${other.maxEnis} ENIs in one document and ${maxEnis} in another`);
      types.set(name, { maxEnis, cards });
    }
  }
  return types;
}

function merge(table, types) {
  const merged = { ...table.instanceTypes };
  for (const [name, { maxEnis, cards }] of types) {
    const branchEnis = merged[name]?.branchEnis ?? null;
    merged[name] = cards > 1 ? { maxEnis, branchEnis, cards } : { maxEnis, branchEnis };
  }
  return merged;
}

/** A line for each type, so that a refresh reads well as a diff. */
function format(asOf, instanceTypes) {
  const rows = Object.keys(instanceTypes)
    .sort()
    .map((name) => {
      const fields = Object.entries(instanceTypes[name]).map(([key, value]) => `"${key}": ${value}`);
      return `    ${JSON.stringify(name)}: { ${fields.join(', ')} }`;
    });
  return `{\n  "asOf": "${asOf}",\n  "instanceTypes": {\n${rows.join(',\n')}\n  }\n}\n`;
}

const [path, asOf = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
if (path === undefined) {
  console.error('usage: refresh.mjs <table> [date] < describe-instance-types.json');
  process.exit(2);
}
try {
  const table = JSON.parse(readFileSync(path, 'utf8'));
  const types = readTypes(parseDocuments(readFileSync(0, 'utf8')));
  const merged = merge(table, types);
  const added = [...types.keys()].filter((name) => !(name in table.instanceTypes));
  const changed = [...types].filter(
    ([name, { maxEnis }]) => (table.instanceTypes[name]?.maxEnis ?? maxEnis) !== maxEnis,
  );
  writeFileSync(`${path}.new`, format(asOf, merged));
  renameSync(`${path}.new`, path);
  console.log(
    `${types.size} types read, ${added.length} added, ${changed.length} changed: ${path} has ${Object.keys(merged).length}`,
  );
} catch (error) {
  console.error(`${path} stays as it is: ${error.message}`);
  process.exit(1);
}
