import { describe, expect, it } from 'vitest';
import type { Ipv4 } from '../../../src/addresses/cidr.js';
import { type Grant, backOff, leaseState, nextLook, taskLease } from '../../../src/dhcp/lease.js';

const address = '10.0.1.55' as Ipv4;
const grant: Grant = { addresses: [address], renewsAt: 60_000, expiresAt: 120_000 };
const endless: Grant = { addresses: [address], renewsAt: Infinity, expiresAt: Infinity };

describe('the state of a lease', () => {
  it('is starting until a server has granted one', () => {
    expect(leaseState(undefined, false, 0)).toBe('starting');
  });

  it('is bound until the client should have renewed it, then renewing, then expired', () => {
    expect([0, 59_999, 60_000, 119_999, 120_000].map((now) => leaseState(grant, false, now))).toEqual([
      'bound',
      'bound',
      'renewing',
      'renewing',
      'expired',
    ]);
  });

  it('is bound for ever when it does not end', () => {
    expect(leaseState(endless, false, Number.MAX_SAFE_INTEGER)).toBe('bound');
  });

  it('is failed while the client cannot be kept running, whatever lease there is', () => {
    expect(leaseState(grant, true, 0)).toBe('failed');
    expect(leaseState(undefined, true, 0)).toBe('failed');
  });
});

describe('the lease of a task', () => {
  const later: Grant = { ...grant, expiresAt: 300_000 };

  it('ends with the first of its families', () => {
    const families = [
      { state: 'bound', grant: later },
      { state: 'bound', grant },
    ] as const;
    expect(taskLease('dhclient', families)).toEqual({ client: 'dhclient', state: 'bound', expiresAt: 120_000 });
  });

  it('tells trouble before success', () => {
    for (const state of ['renewing', 'expired', 'failed'] as const)
      expect(
        taskLease('dhclient', [
          { state: 'bound', grant: later },
          { state, grant },
        ]).state,
      ).toBe(state);
  });

  it('is bound when one family is, though no server has answered the other', () => {
    const families = [
      { state: 'bound', grant },
      { state: 'starting', grant: undefined },
    ] as const;
    expect(taskLease('dhclient', families)).toEqual({ client: 'dhclient', state: 'bound', expiresAt: 120_000 });
  });

  it('has no end when the server gave none', () => {
    expect(taskLease('dhclient', [{ state: 'bound', grant: endless }]).expiresAt).toBeNull();
  });

  it('is off without clients', () => {
    expect(taskLease(null, [])).toEqual({ client: null, state: 'off', expiresAt: null });
  });
});

describe('the next look at a lease', () => {
  it('comes soon while the first answer is awaited, and less often when it stays away', () => {
    expect(nextLook(undefined, 0, 1_000)).toBe(250);
    expect(nextLook(undefined, 0, 20_000)).toBe(1_000);
  });

  it('comes a second after the renewal is due', () => {
    expect(nextLook(grant, 0, 30_000)).toBe(31_000);
  });

  it('comes at the very end of a lease that is not renewed', () => {
    expect(nextLook(grant, 0, 119_600)).toBe(400);
  });

  it('comes every second once the lease is late or over', () => {
    expect(nextLook(grant, 0, 70_000)).toBe(1_000);
    expect(nextLook(grant, 0, 500_000)).toBe(1_000);
  });

  it('comes once a minute at least, as the clock may jump', () => {
    expect(nextLook({ ...grant, renewsAt: 3_600_000, expiresAt: 7_200_000 }, 0, 0)).toBe(60_000);
    expect(nextLook(endless, 0, 0)).toBe(60_000);
  });
});

it('waits twice as long after each failure, up to a minute', () => {
  expect([1, 2, 3, 7, 8, 9, 2000].map(backOff)).toEqual([500, 1_000, 2_000, 32_000, 60_000, 60_000, 60_000]);
});
