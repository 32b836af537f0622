/** The built program on a host where the service runs. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/cli/finding.js';
import { inCheckout } from '../lab/checkout.js';
import { CommandError } from '../lab/command.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;

/** Where a core dump of what is started by `dumping` goes, unless the host has another place for them (core(5)). */
const dumps = () => `${lab.directory}/dumps`;
const dumping = ['sh', '-c', 'cd "$TASK_ENI_STATE_DIR/../dumps" && exec prlimit --core=unlimited "$@"', 'sh'];

beforeAll(async () => {
  lab = await Lab.create({ name: 'cli' });
  const warnOnSignal = `data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('old','LibraryWarning'))`;
  mkdirSync(dumps());
  service = await lab.startService({ nodeArgs: ['--import', warnOnSignal], before: dumping });
});
afterAll(async () => {
  await service?.stop();
  await lab?.destroy();
});

const program = (...args: string[]) =>
  lab.host.runWith({ env: { ...service.environment } }, process.execPath, inCheckout('dist/main.js'), ...args);

async function failure(...args: string[]): Promise<CommandError> {
  try {
    await program(...args);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
  throw new Error(`task-eni ${args.join(' ')} did not fail`);
}

describe('task-eni', () => {
  it('status shows what is attached', async () => {
    expect(await program('status')).toBe('No task has a network.\n');
    const eni = await lab.createEni();
    await service.post('shown', { eni: { macAddress: eni.mac } });
    expect(await program('status')).toMatch(new RegExp(`^shown +READY .*${eni.id}`, 'm'));
    expect(JSON.parse(await program('status', 'shown', '--json'))).toMatchObject({ taskId: 'shown', state: 'READY' });
    expect(String(await failure('status', 'other'))).toContain('other has no network');
  });

  it('serve writes JSON lines alone, also where Node or a library warns', async () => {
    process.kill(service.pid, 'SIGUSR2');
    const warnings = () => service.logs().filter(({ name }) => name === 'LibraryWarning');
    await expect.poll(warnings).toMatchObject([{ level: 40, msg: 'old' }]);
    expect(service.logs().filter(({ level }) => level === undefined)).toEqual([]);
  });

  it('doctor takes what the running service holds for no clash', async () => {
    const { findings } = JSON.parse(await program('doctor', '--json')) as { findings: Finding[] };
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
    const held = findings.filter(({ detail }) => detail.includes('held by the service that runs'));
    expect(held.map(({ name }) => name)).toEqual(['state lock', 'TASK_ENI_API_ADDRESS']);
    expect(findings.find(({ name }) => name === 'instance metadata')).toMatchObject({ status: 'ok' });
  });

  it('serve leaves no core dump, in which credentials would lie, where another process leaves one', async (context) => {
    const other = lab.host.start(dumping[0] ?? '', [...dumping.slice(1), 'sleep', '60'], {
      env: { ...service.environment },
    });
    await expect.poll(() => readFileSync(`/proc/${other.pid}/cmdline`, 'utf8')).toMatch(/^sleep/);
    other.kill('SIGABRT');
    await once(other, 'exit');
    const made = readdirSync(dumps());
    if (made.length === 0) context.skip(`core dumps go to ${readFileSync('/proc/sys/kernel/core_pattern', 'utf8')}`);
    for (const file of made) rmSync(`${dumps()}/${file}`);
    process.kill(service.pid, 'SIGABRT');
    expect(await service.exited).toMatchObject({ signal: 'SIGABRT' });
    expect(readdirSync(dumps())).toEqual([]);
  });
});
