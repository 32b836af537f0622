/** The built program on a host where the service runs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/cli/finding.js';
import { inCheckout } from '../lab/checkout.js';
import { CommandError } from '../lab/command.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;

beforeAll(async () => {
  lab = await Lab.create({ name: 'cli' });
  const warnOnSignal = `data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('old','LibraryWarning'))`;
  service = await lab.startService({ nodeArgs: ['--import', warnOnSignal] });
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
});
