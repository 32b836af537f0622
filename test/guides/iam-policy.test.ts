import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { CommandError, run } from '../lab/command.js';
import { written } from './guide.js';

interface Policy {
  readonly Statement: readonly { readonly Effect: string; readonly Action: string | readonly string[] }[];
}

/** It has the actions of every service with the resources that each takes; see install.sh. */
const linter = `${process.env['XDG_CACHE_HOME'] ?? `${homedir()}/.cache`}/task-eni-tests/policies/bin/parliament`;
const missing = existsSync(linter) ? undefined : 'parliament is missing: run test/guides/install.sh';

const policy = () => written('deploy/README.md › IAM');
/** One finding a line; none when the policy is sound. */
const findings = (text: string) =>
  run(linter, ['--json'], { input: text }).catch((error: unknown) => {
    if (error instanceof CommandError && error.code === 1) return error.stdout;
    throw error;
  });

/** Actions as IAM names them, of each command of an AWS SDK that the sources make. */
function calledActions(): string[] {
  const files = readdirSync(inCheckout('src'), { recursive: true, encoding: 'utf8' });
  const sources = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(inCheckout(`src/${file}`), 'utf8'));
  const actions = sources.flatMap((text) => {
    const [, service] = /@aws-sdk\/client-(\w+)/.exec(text) ?? [];
    return [...text.matchAll(/new (\w+)Command\(/g)].flatMap(([, name]) => (service ? [`${service}:${name}`] : []));
  });
  // Session tags need the right to give them (IAM user guide, "Pass session tags in AWS STS").
  return sources.some((text) => /^ +Tags: /m.test(text)) ? [...actions, 'sts:TagSession'] : actions;
}

/** "No permissions are required to perform this operation" (STS API reference). */
const free = ['sts:GetCallerIdentity'];

describe('the policy for the role of the host', () => {
  it('allows exactly what the service calls', () => {
    const { Statement } = JSON.parse(policy()) as Policy;
    const allowed = Statement.flatMap(({ Effect, Action }) => (Effect === 'Allow' ? Action : []));
    expect([...allowed].toSorted()).toEqual(
      [...new Set(calledActions())].filter((each) => !free.includes(each)).toSorted(),
    );
  });

  it.skipIf(missing !== undefined)(
    `is sound to a linter that knows what IAM has${missing ? ` (${missing})` : ''}`,
    async () => {
      expect(await findings(policy())).toBe('');
      expect(await findings(policy().replace('sts:TagSession', 'sts:TagSesion'))).toContain('UNKNOWN_ACTION');
      expect(await findings(policy().replace(/arn:aws:iam[^"]+/, 'arn:aws:s3:::tasks'))).toContain('RESOURCE_MISMATCH');
    },
  );
});
