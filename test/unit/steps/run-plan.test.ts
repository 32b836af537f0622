import { describe, expect, it } from 'vitest';
import type { Ipv4 } from '../../../src/addresses/cidr.js';
import type { Mac } from '../../../src/addresses/mac.js';
import { TaskEniError } from '../../../src/errors.js';
import { KernelError } from '../../../src/kernel/errno.js';
import { type Handlers, type StepEvent, runPlan, undoPlan } from '../../../src/steps/run-plan.js';
import type { Step, StepKind } from '../../../src/steps/step.js';

const plan: Step[] = [
  { kind: 'reserve-address', address: '169.254.172.2' as Ipv4 },
  { kind: 'clear-host-config', mac: '02:00:00:00:00:01' as Mac },
  { kind: 'start-dhcp', interface: 'eth0', ipv4: null, ipv6: null },
];
const kinds: StepKind[] = [
  'reserve-address',
  'prepare-sandbox',
  'clear-host-config',
  'connect-bridge',
  'move-eni',
  'configure-eni',
  'register-credentials',
  'start-dhcp',
];

/** Handlers that write down what they were asked, and fail where told. */
function recorder(fails: Partial<Record<string, Error>> = {}) {
  const calls: string[] = [];
  const handler = (kind: string) => {
    const call = (verb: string) => async () => {
      calls.push(`${verb} ${kind}`);
      const error = fails[`${verb} ${kind}`];
      if (error !== undefined) throw error;
    };
    return { do: call('do'), undo: call('undo') };
  };
  const handlers = Object.fromEntries(kinds.map((kind) => [kind, handler(kind)])) as unknown as Handlers<null>;
  return { calls, handlers };
}

const quiet = { report: () => undefined, proceed: () => undefined };

describe('running a plan', () => {
  it('does the steps in their order and reports each twice', async () => {
    const { calls, handlers } = recorder();
    const events: StepEvent[] = [];
    await runPlan(plan, handlers, null, { ...quiet, report: (event) => events.push(event) });
    expect(calls).toEqual(['do reserve-address', 'do clear-host-config', 'do start-dhcp']);
    expect(events.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      'reserve-address running',
      'reserve-address done',
      'clear-host-config running',
      'clear-host-config done',
      'start-dhcp running',
      'start-dhcp done',
    ]);
  });

  it('stops at the first failure and names its step and errno', async () => {
    const { calls, handlers } = recorder({ 'do clear-host-config': new KernelError('EPERM', 'delete an address') });
    const failure = await runPlan(plan, handlers, null, quiet).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TaskEniError);
    expect(failure).toMatchObject({ code: 'step-failed', step: 'clear-host-config' });
    expect((failure as TaskEniError).detail).toContain('EPERM');
    expect(calls).toEqual(['do reserve-address', 'do clear-host-config']);
  });

  it('keeps the code of an error that has one', async () => {
    const { handlers } = recorder({ 'do start-dhcp': new TaskEniError('docker-unavailable', 'no answer') });
    await expect(runPlan(plan, handlers, null, quiet)).rejects.toMatchObject({
      code: 'docker-unavailable',
      step: 'start-dhcp',
    });
  });

  it('asks before each step whether to go on, and once after the last', async () => {
    const { calls, handlers } = recorder();
    let asked = 0;
    const proceed = () => {
      asked += 1;
      if (asked === 3) throw new TaskEniError('cancelled', 'a DELETE came');
    };
    await expect(runPlan(plan, handlers, null, { ...quiet, proceed })).rejects.toMatchObject({ code: 'cancelled' });
    expect(calls).toEqual(['do reserve-address', 'do clear-host-config']);
  });
});

describe('undoing a plan', () => {
  it('goes backwards, never stops, and says what stayed', async () => {
    const trouble = new Error('no');
    const { calls, handlers } = recorder({ 'undo clear-host-config': trouble });
    const failures = await undoPlan(plan, handlers, null, () => undefined);
    expect(calls).toEqual(['undo start-dhcp', 'undo clear-host-config', 'undo reserve-address']);
    expect(failures).toEqual([{ kind: 'clear-host-config', error: trouble }]);
  });
});
