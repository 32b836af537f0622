import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { Attachments } from '../../../src/attachments/attachments.js';
import type { Host } from '../../../src/attachments/host.js';
import { Operations } from '../../../src/attachments/operations.js';
import { Retries } from '../../../src/attachments/retries.js';
import { TaskRecords } from '../../../src/attachments/task-records.js';
import type { TaskId } from '../../../src/attachments/task-id.js';
import { detach } from '../../../src/attachments/detach.js';
import { TaskEniError } from '../../../src/errors.js';
import { undo } from '../../../src/attachments/undo.js';
import type { Step } from '../../../src/steps/step.js';
import type { AttachmentRecord } from '../../../src/store/record.js';
import type { RecordStore } from '../../../src/store/record-store.js';
import { address, attachRequest, mac, record } from './example-records.js';

const plan: Step[] = [
  { kind: 'reserve-address', address },
  { kind: 'clear-host-config', mac },
  { kind: 'start-dhcp', interface: 'eth0', ipv4: null, ipv6: null },
];

let failing: Map<string, Error>;
let undone: string[];
let host: Host;

function memoryStore(): RecordStore {
  const kept = new Map<string, AttachmentRecord>();
  const store: Pick<RecordStore, 'all' | 'get' | 'save' | 'remove' | 'setAside'> = {
    all: () => [...kept.values()],
    get: (hash) => kept.get(hash),
    save: async (saved) => void kept.set(saved.hash, saved),
    remove: async (hash) => void kept.delete(hash),
    setAside: async (hash) => void kept.delete(hash),
  };
  return store as RecordStore;
}

function handler(kind: string) {
  const act = async () => {
    undone.push(kind);
    const error = failing.get(kind);
    if (error !== undefined) throw error;
  };
  return { do: act, undo: act };
}

/** A host of which only what an undo and the task's lock need is there. */
function bareHost(): Host {
  const logger = pino({ level: 'silent' });
  const parts = {
    logger,
    bootId: 'boot-1',
    settings: { instance: 'task-eni', region: null },
    records: new TaskRecords(memoryStore(), logger),
    operations: new Operations(),
    retries: new Retries(),
    metrics: { stepEnded: () => undefined, undoFailed: () => undefined, detachEnded: () => undefined },
    orphans: { settle: () => undefined },
    handlers: Object.fromEntries(plan.map(({ kind }) => [kind, handler(kind)])),
  };
  return parts as unknown as Host;
}

beforeEach(() => {
  failing = new Map();
  undone = [];
  host = bareHost();
});

describe('undoing a task', () => {
  it('frees its address last of all', async () => {
    const task = record({ state: 'READY', plan });
    host.records.begin(task);
    expect(await undo(host, task.hash)).toEqual([]);
    expect(undone).toEqual(['start-dhcp', 'clear-host-config', 'reserve-address']);
  });

  it('keeps its address while anything else of it stays, until that is gone as well', async () => {
    const task = record({ state: 'READY', plan });
    host.records.begin(task);
    failing.set('start-dhcp', new Error('it stays'));
    expect(await undo(host, task.hash)).toEqual(['start-dhcp']);
    expect(undone).not.toContain('reserve-address');
    failing.clear();
    expect(await undo(host, task.hash)).toEqual([]);
    expect(undone.at(-1)).toBe('reserve-address');
  });

  it('tries again what stayed alone: the rest may be of another task by then', async () => {
    const task = record({ state: 'FAILED', plan, undoPending: ['clear-host-config'] });
    host.records.begin(task);
    expect(await undo(host, task.hash)).toEqual([]);
    expect(undone).toEqual(['clear-host-config', 'reserve-address']);
  });
});

describe('a detach', () => {
  const away = new TaskEniError('docker-unavailable', 'the engine is away');

  it.each([
    ['docker-unavailable', 'it was for Docker alone', [away]],
    ['step-failed', 'something else failed, too', [away, new Error('EBUSY')]],
  ] as const)('that could not be finished is %s when %s', async (code, _, errors) => {
    const task = record({ state: 'READY', plan });
    host.records.begin(task);
    failing.set('start-dhcp', errors[0]);
    if (errors[1] !== undefined) failing.set('clear-host-config', errors[1]);
    await expect(detach(host, task.hash)).rejects.toMatchObject({ code, step: 'start-dhcp', taskId: task.taskId });
    failing.clear();
    expect(await detach(host, task.hash)).toMatchObject({ state: 'DETACHED' });
  });
});

describe('a request that comes while the end of another is still being written', () => {
  const never = new Promise<AttachmentRecord>(() => undefined);

  it('is told to come again: an attach, of a task that just failed', () => {
    const task = record({ state: 'FAILED' });
    host.records.begin(task);
    host.operations.run(task.hash, 'attach', () => never);
    expect(() => new Attachments(host).begin(task.taskId, attachRequest())).toThrow(
      expect.objectContaining({ code: 'busy' }),
    );
  });

  it('is told to come again: credentials, of a task that is being attached or released', async () => {
    const task = record({ state: 'READY' });
    host.records.begin(task);
    host.operations.run(task.hash, 'undo', () => never);
    const put = new Attachments(host).deleteCredentials('web-1' as TaskId);
    await expect(put).rejects.toMatchObject({ code: 'busy' });
  });
});
