import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Ipv4 } from '../../../src/addresses/cidr.js';
import type { AssumeRoleRequest, PushedCredentials } from '../../../src/attachments/request.js';
import type { TaskId } from '../../../src/attachments/task-id.js';
import type { Entry, ServedCredentials } from '../../../src/credentials/server/messages.js';
import { TaskCredentials, type TaskCredentialsParts } from '../../../src/credentials/task-credentials.js';
import { TaskEniError } from '../../../src/errors.js';

const holder = { taskId: 'web-1' as TaskId, hash: 'hash1', id: 'id-1', address: '169.254.172.2' as Ipv4 };
const pushed: PushedCredentials = {
  source: 'pushed',
  roleArn: 'arn',
  accessKeyId: 'AK',
  secretAccessKey: 'SK',
  sessionToken: 'T',
  expiration: Date.UTC(2030, 0),
};
const role: AssumeRoleRequest = {
  source: 'assume-role',
  roleArn: 'arn:role',
  sessionName: null,
  durationSeconds: 3600,
  externalId: null,
  tags: {},
};
const assumed: ServedCredentials = {
  roleArn: 'arn:role',
  accessKeyId: 'ROLE',
  secretAccessKey: 'SK',
  sessionToken: 'T',
  expiration: Date.UTC(2029, 0),
};

/** What the server and the folder would hold. */
function setUp(source: TaskCredentialsParts['source'] = { assume: () => Promise.resolve(assumed) }) {
  const served = new Map<string, Entry>();
  const stored = new Map<string, ServedCredentials>();
  const credentials = new TaskCredentials({
    server: {
      put: async (entry) => void served.set(entry.id, entry),
      complete: async () => {},
      forget: async (id) => void served.delete(id),
    },
    source,
    store: {
      keep: async (hash, each) => Boolean(stored.set(hash, each)),
      load: async (hash) => stored.get(hash),
      discard: async (hash) => void stored.delete(hash),
      discardOthers: async (hashes) =>
        [...stored.keys()].filter((key) => !hashes.has(key)).forEach((key) => stored.delete(key)),
    },
    logger: pino({ level: 'silent' }),
    onRefresh: () => {},
  });
  return { credentials, served, stored };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('the credentials of a task', () => {
  it('are served once registered, and forgotten once unregistered', async () => {
    const { credentials, served, stored } = setUp();
    await credentials.register({ ...holder, credentials: pushed });
    expect(served.get('id-1')).toMatchObject({
      taskId: 'web-1',
      address: holder.address,
      credentials: { accessKeyId: 'AK' },
    });
    expect(credentials.expiration('hash1')).toBe(pushed.expiration);
    expect(stored.has('hash1')).toBe(true);
    await credentials.unregister('hash1');
    expect(served.size + stored.size).toBe(0);
    expect(credentials.expiration('hash1')).toBeNull();
    await credentials.unregister('hash1');
  });

  it('are known but not there while STS is asked', async () => {
    let answer: (each: ServedCredentials) => void = () => {};
    const { credentials, served } = setUp({ assume: () => new Promise((resolve) => (answer = resolve)) });
    const registered = credentials.register({ ...holder, credentials: role });
    await soon();
    expect(served.get('id-1')?.credentials).toBeNull();
    answer(assumed);
    await registered;
    expect(served.get('id-1')?.credentials).toEqual(assumed);
    credentials.stop();
  });

  it('leave nothing behind when the role is refused', async () => {
    const { credentials, served } = setUp({
      assume: () => Promise.reject(new TaskEniError('credentials-refused', 'no')),
    });
    await expect(credentials.register({ ...holder, credentials: role })).rejects.toMatchObject({
      code: 'credentials-refused',
    });
    expect(served.size).toBe(0);
    await expect(credentials.update('hash1', pushed)).rejects.toMatchObject({ code: 'task-not-found' });
  });

  it('are cancelled by an unregister while STS is asked, and do not come back', async () => {
    let answer: (each: ServedCredentials) => void = () => {};
    const { credentials, served } = setUp({ assume: () => new Promise((resolve) => (answer = resolve)) });
    const registered = credentials.register({ ...holder, credentials: role });
    await soon();
    await credentials.unregister('hash1');
    answer(assumed);
    await expect(registered).rejects.toMatchObject({ code: 'cancelled' });
    await soon();
    expect(served.size).toBe(0);
  });

  it('of before are served on when an update is refused', async () => {
    const { credentials, served } = setUp({
      assume: () => Promise.reject(new TaskEniError('credentials-refused', 'no')),
    });
    await credentials.register({ ...holder, credentials: pushed });
    await expect(credentials.update('hash1', role)).rejects.toMatchObject({ code: 'credentials-refused' });
    await expect(credentials.update('hash1', { ...pushed, sessionToken: '' })).rejects.toMatchObject({
      code: 'invalid-request',
    });
    expect(served.get('id-1')?.credentials?.accessKeyId).toBe('AK');
  });

  it('change their source with an update', async () => {
    const { credentials, served, stored } = setUp();
    await credentials.register({ ...holder, credentials: pushed });
    await credentials.update('hash1', role);
    expect(served.get('id-1')?.credentials?.accessKeyId).toBe('ROLE');
    expect(stored.size).toBe(0);
    await credentials.update('hash1', pushed);
    expect(served.get('id-1')?.credentials?.accessKeyId).toBe('AK');
  });

  it("are nobody's once cleared, until they are updated under the same id", async () => {
    const { credentials, served, stored } = setUp();
    await credentials.register({ ...holder, credentials: pushed });
    await credentials.clear('hash1');
    expect(served.size + stored.size).toBe(0);
    expect(credentials.expiration('hash1')).toBeNull();
    await credentials.update('hash1', pushed);
    expect(served.get('id-1')).toMatchObject({ address: holder.address });
  });

  it('are known at once after a restart, and filled from where they were pushed or assumed', async () => {
    const { credentials, served, stored } = setUp();
    stored.set('hash1', { ...assumed, accessKeyId: 'STORED' });
    credentials.adopt({ ...holder, credentials: { source: 'pushed', roleArn: 'arn' } });
    credentials.adopt({ ...holder, hash: 'hash2', id: 'id-2', credentials: role });
    expect(served.get('id-1')?.credentials).toBeNull();
    expect(served.get('id-2')?.credentials).toBeNull();
    await expect.poll(() => served.get('id-1')?.credentials?.accessKeyId).toBe('STORED');
    await expect.poll(() => served.get('id-2')?.credentials?.accessKeyId).toBe('ROLE');
    credentials.stop();
  });

  it('that are pushed anew are not overwritten by older ones from the folder', async () => {
    const { credentials, served, stored } = setUp();
    stored.set('hash1', { ...assumed, accessKeyId: 'STORED' });
    credentials.adopt({ ...holder, credentials: { source: 'pushed', roleArn: 'arn' } });
    await credentials.update('hash1', pushed);
    await soon();
    expect(served.get('id-1')?.credentials?.accessKeyId).toBe('AK');
  });

  it('of tasks that are gone are removed from the folder', async () => {
    const { credentials, stored } = setUp();
    stored.set('other', assumed);
    await credentials.register({ ...holder, credentials: pushed });
    await credentials.discardOthers();
    expect([...stored.keys()]).toEqual(['hash1']);
  });

  it('tell the first of all expirations', async () => {
    const { credentials } = setUp();
    expect(credentials.earliestExpiry()).toBeNull();
    await credentials.register({ ...holder, credentials: pushed });
    await credentials.register({ ...holder, hash: 'hash2', id: 'id-2', credentials: role });
    expect(credentials.earliestExpiry()).toBe(assumed.expiration);
    credentials.stop();
  });
});
