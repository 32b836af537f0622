import { describe, expect, it } from 'vitest';
import { viewNetwork } from '../../../src/api/network-view.js';
import { ageText, columns, networkText, taskTable } from '../../../src/cli/status-text.js';
import type { NetworkDto } from '../../../src/api/network.dto.js';
import { pendingRecord, readyRecord } from '../api/sample-record.js';

const ready = viewNetwork(readyRecord, 'ecs-eni', { lease: undefined, credentialsExpiration: null });
const pending = viewNetwork(pendingRecord, 'ecs-eni', { lease: undefined, credentialsExpiration: null });

describe('the table of tasks', () => {
  it('has a line a task, oldest first, under one heading', () => {
    const later = { ...pending, taskId: 'worker-with-a-long-name', createdAt: '2026-11-30T11:30:00.000Z' };
    const lines = taskTable([later, ready], Date.parse('2026-11-30T12:00:00Z')).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s{2,}/))).toEqual([
      ['TASK', 'STATE', 'AGE', 'ENI', 'INTERFACE', 'ADDRESS', 'LINK-LOCAL', 'NETWORK', 'ATTACHED IN'],
      [
        'web-1',
        'READY',
        '60m',
        'eni-0123456789abcdef0',
        'eth0 (was eth1)',
        '172.31.13.14/20',
        '169.254.172.2',
        'container:4f1c',
        '23 ms',
      ],
      ['worker-with-a-long-name', 'PENDING', '30m', '02:00:00:00:00:01', '-', '-', '-', '-', '-'],
    ]);
    expect(new Set(lines.map((line) => line.indexOf(line.split(/\s{2,}/)[1] ?? ''))).size).toBe(1);
  });

  it('says so when there is none', () => {
    expect(taskTable([], 0)).toBe('No task has a network.\n');
  });

  it('has the name of an ENI where it is: in its task, or on the host again', () => {
    const line = (state: NetworkDto['state']) => taskTable([{ ...ready, state }], 0).split('\n')[1];
    expect(line('READY')).toContain('  eth0 (was eth1)  ');
    for (const state of ['FAILED', 'LOST', 'DETACHED'] as const) expect(line(state)).toContain('  eth1 on host  ');
  });

  it('leaves its last columns out where the terminal is narrow, and never breaks a line', () => {
    const tasks = Array.from({ length: 100 }, (_, n) => ({ ...ready, taskId: `task-${n}` }));
    const whole = taskTable(tasks, 0);
    const widest = Math.max(...whole.split('\n').map((line) => line.length));
    expect(taskTable(tasks, 0, widest)).toBe(whole);
    const narrow = taskTable(tasks, 0, 80).trimEnd().split('\n');
    expect(narrow).toHaveLength(101);
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(narrow[0]).toMatch(/^TASK +STATE +AGE +ENI +INTERFACE +ADDRESS$/);
    expect(taskTable(tasks, 0, 1).split('\n')[0]).toMatch(/^TASK +STATE +AGE$/);
  });

  it('shows a container as docker ps does', () => {
    const long = { ...ready, networkMode: `container:${'4f1c2d3e4b5a'.repeat(5)}abcd` };
    expect(taskTable([long], 0)).toContain(' container:4f1c2d3e4b5a ');
  });
});

describe('one task', () => {
  it('is told with its steps and what containers need', () => {
    const text = networkText(ready);
    expect(text).toMatch(/^task\s+web-1$/m);
    expect(text).toMatch(/^interface +eth0 \(was eth1\) {2}MTU 9001$/m);
    expect(text).toMatch(/^IPv4\s+172\.31\.13\.14\/20 {2}via 172\.31\.0\.1$/m);
    expect(text).toMatch(/^environment .*AWS_EC2_METADATA_DISABLED=true/m);
    expect(text).toMatch(/^move-eni\s+done\s+18\.2 ms$/m);
    expect(text).not.toMatch(/^IPv6/m);
  });

  it('cannot drive the terminal', () => {
    expect(networkText({ ...ready, warnings: ['\u001b[2J\u202e'] })).toMatch(/^warning\s+\?\[2J\?$/m);
  });
});

it.each([
  [0, '0s'],
  [119_999, '119s'],
  [120_000, '2m'],
  [7_200_000, '2h'],
  [172_800_000, '2d'],
  [-5, '0s'],
])('an age of %i ms is %s', (milliseconds, text) => {
  expect(ageText(milliseconds)).toBe(text);
});

it('columns are as wide as their widest cell', () => {
  expect(columns([['a', 'bb'], ['ccc']])).toBe('a    bb\nccc\n');
});
