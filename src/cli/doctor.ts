import { describeError } from '../errors.js';
import { type Settings, SettingsError, readSettings } from '../settings.js';
import { checkFolders, checkLock, checkNames, checkPinReach, checkPort, checkToken, isServing } from './check-host.js';
import { checkKernel } from './check-kernel.js';
import { checkPrivileges } from './check-privileges.js';
import { checkDhclient, checkDocker, checkMetadata } from './check-tools.js';
import { type Finding, fail, findingsText, ok } from './finding.js';

/** Looks whether this host can run the service. Resolves with the exit code: 1 when serving would fail. */
export async function doctor(environment: NodeJS.ProcessEnv, json: boolean): Promise<number> {
  const findings = await examine(environment);
  process.stdout.write(json ? `${JSON.stringify({ findings }, null, 2)}\n` : findingsText(findings));
  return findings.some(({ status }) => status === 'fail') ? 1 : 0;
}

async function examine(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const settings = parse(environment);
  if (Array.isArray(settings)) return settings;
  const privileges = checkPrivileges();
  const first = [ok('settings', 'every one can be read'), privileges];
  // Each of the others would fail for the same reason.
  if (privileges.status === 'fail') return first;
  const serving = await isServing(settings);
  const checks: [name: string, check: () => Finding | Finding[] | Promise<Finding | Finding[]>][] = [
    ['kernel', () => checkKernel()],
    ['mount namespace', () => checkPinReach()],
    ['sandboxes', () => checkDocker(settings, environment)],
    ['dhclient', () => checkDhclient(settings)],
    ['instance metadata', () => checkMetadata(settings)],
    ['names', () => checkNames(settings, serving)],
    ['folders', () => checkFolders(settings)],
    ['state lock', () => checkLock(settings, serving)],
    ['token', () => checkToken(settings)],
    ['TASK_ENI_API_ADDRESS', () => checkPort('TASK_ENI_API_ADDRESS', settings.apiAddress, serving)],
    ['TASK_ENI_METRICS_ADDRESS', () => checkPort('TASK_ENI_METRICS_ADDRESS', settings.metricsAddress, serving)],
  ];
  const rest: Finding[] = [];
  for (const [name, check] of checks) rest.push(...(await run(name, check)));
  return [...first, ...rest];
}

function parse(environment: NodeJS.ProcessEnv): Settings | Finding[] {
  try {
    return readSettings(environment);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((problem) => fail('settings', problem, 'Correct or unset the variable.'));
  }
}

/** A check that itself fails is a finding, and keeps no other from being made. */
async function run(name: string, check: () => Finding | Finding[] | Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [fail(name, describeError(error), 'This was not foreseen; please report it.')];
  }
}
