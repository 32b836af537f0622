import { describe, expect, it } from 'vitest';
import { sessionName } from '../../../src/credentials/session-name.js';

describe('the session name of a task', () => {
  it.each([
    ['web-1', 'web-1'],
    ['arn:aws:ecs:web_1', 'arn-aws-ecs-web_1'],
    ['a', 'task-a'],
    ['ab', 'ab'],
    ['x'.repeat(64), 'x'.repeat(64)],
  ])('of %s is %s', (taskId, name) => expect(sessionName(taskId)).toBe(name));

  it('is one that STS takes, and differs for ids that differ only at their end', () => {
    const names = [`${'x'.repeat(254)}1`, `${'x'.repeat(254)}2`].map(sessionName);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^[\w+=,.@-]{2,64}$/);
  });
});
