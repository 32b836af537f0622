import { describe, expect, it } from 'vitest';
import { CredentialsTable, formatExpiration } from '../../../src/credentials/server/table.js';

const entry = (id: string, address: string) => ({ id, taskId: `task-${id}`, address, credentials: null });

describe('the table of credentials', () => {
  it('knows whose an address is', () => {
    const table = new CredentialsTable();
    table.put(entry('a', '169.254.172.2'));
    expect(table.at('169.254.172.2')?.taskId).toBe('task-a');
    expect(table.at('169.254.172.3')).toBeUndefined();
  });

  it('forgets an id with its address, once', () => {
    const table = new CredentialsTable();
    table.put(entry('a', '169.254.172.2'));
    expect(table.forget('a')).toBe('169.254.172.2');
    expect(table.forget('a')).toBeUndefined();
    expect(table.get('a')).toBeUndefined();
    expect(table.at('169.254.172.2')).toBeUndefined();
  });

  it('forgets whoever had the address before', () => {
    const table = new CredentialsTable();
    table.put(entry('a', '169.254.172.2'));
    table.put(entry('b', '169.254.172.2'));
    expect(table.get('a')).toBeUndefined();
    expect(table.at('169.254.172.2')?.id).toBe('b');
  });

  it('moves an id that has another address now', () => {
    const table = new CredentialsTable();
    table.put(entry('a', '169.254.172.2'));
    table.put(entry('a', '169.254.172.3'));
    expect(table.at('169.254.172.2')).toBeUndefined();
    expect(table.get('a')?.address).toBe('169.254.172.3');
  });
});

describe('an expiration', () => {
  it.each([
    [Date.UTC(2026, 10, 30, 12, 0, 0, 0), '2026-11-30T12:00:00Z'],
    [Date.UTC(2026, 10, 30, 12, 0, 0, 999), '2026-11-30T12:00:00Z'],
    [Date.UTC(2026, 0, 2, 3, 4, 5, 6.7), '2026-01-02T03:04:05Z'],
  ])('of %d is %s', (milliseconds, text) => expect(formatExpiration(milliseconds)).toBe(text));
});
