import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AssumeRoleRequest } from '../../../src/attachments/request.js';
import { FetchQueue } from '../../../src/credentials/fetch-queue.js';
import { RoleCredentials } from '../../../src/credentials/role-credentials.js';
import type { ServedCredentials } from '../../../src/credentials/server/messages.js';
import { TaskEniError } from '../../../src/errors.js';

const role: AssumeRoleRequest = {
  source: 'assume-role',
  roleArn: 'arn:aws:iam::123456789012:role/app',
  sessionName: null,
  durationSeconds: 3600,
  externalId: null,
  tags: {},
};
const life = 3_600_000;

function setUp(answer: (call: number) => Promise<ServedCredentials> = fresh) {
  const gone = new AbortController();
  const published: ServedCredentials[] = [];
  const outcomes: string[] = [];
  let calls = 0;
  const credentials = new RoleCredentials({
    taskId: 'web-1',
    role,
    source: { assume: ({ signal }) => (signal.aborted ? Promise.reject(signal.reason) : answer(++calls)) },
    queue: new FetchQueue(8),
    logger: pino({ level: 'silent' }),
    onOutcome: (outcome) => outcomes.push(outcome),
    signal: gone.signal,
    publish: (each) => published.push(each),
  });
  return { credentials, gone, published, outcomes, calls: () => calls };
}

function fresh(call: number): Promise<ServedCredentials> {
  const text = String(call);
  return Promise.resolve({
    roleArn: text,
    accessKeyId: text,
    secretAccessKey: text,
    sessionToken: text,
    expiration: Date.now() + life,
  });
}
const refuse = () => Promise.reject(new TaskEniError('credentials-refused', 'no'));
const timeOut = () => Promise.reject(new TaskEniError('credentials-timeout', 'late'));

describe("a role's credentials", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are fetched for whoever waits, and again two thirds into their life', async () => {
    const { credentials, published, calls } = setUp();
    expect((await credentials.begin()).accessKeyId).toBe('1');
    await vi.advanceTimersByTimeAsync(life * 0.56);
    expect(calls()).toBe(1);
    await vi.advanceTimersByTimeAsync(life * 0.12);
    expect(calls()).toBe(2);
    expect(published.map(({ accessKeyId }) => accessKeyId)).toEqual(['2']);
    credentials.stop();
  });

  it('are not fetched again when the first fetch fails', async () => {
    const { credentials, calls, outcomes } = setUp(refuse);
    await expect(credentials.begin()).rejects.toMatchObject({ code: 'credentials-refused' });
    await vi.advanceTimersByTimeAsync(life);
    expect(calls()).toBe(1);
    expect(outcomes).toEqual(['refused']);
  });

  it('are fetched until it works once the task runs, one request at a time', async () => {
    let under = 0;
    let most = 0;
    const { credentials, published, outcomes } = setUp(async (call) => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setTimeout(resolve, 5000));
      under -= 1;
      return call < 4 ? timeOut() : fresh(call);
    });
    credentials.resume(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(outcomes).toEqual(['timeout', 'timeout', 'timeout', 'success']);
    expect(published).toHaveLength(1);
    expect(most).toBe(1);
    credentials.stop();
  });

  it('are asked for no more once the task is gone', async () => {
    const { credentials, gone, calls } = setUp();
    await credentials.begin();
    gone.abort();
    await vi.advanceTimersByTimeAsync(life * 3);
    expect(calls()).toBe(1);
  });

  it('that come after the stop are neither published nor counted', async () => {
    const { credentials, published, outcomes } = setUp(async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 5000));
      return fresh(call);
    });
    credentials.resume(0);
    await vi.advanceTimersByTimeAsync(100);
    credentials.stop();
    await vi.advanceTimersByTimeAsync(life);
    expect(published).toEqual([]);
    expect(outcomes).toEqual([]);
  });

  it('are fetched soon after the clock was set forward', async () => {
    const { credentials, calls } = setUp();
    await credentials.begin();
    vi.setSystemTime(Date.now() + life);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(calls()).toBe(2);
    credentials.stop();
  });
});
