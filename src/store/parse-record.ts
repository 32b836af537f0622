import { parseMac } from '../addresses/mac.js';
import { parseTaskId } from '../attachments/task-id.js';
import { type AttachmentRecord, recordVersion } from './record.js';

const states = new Set(['PENDING', 'ATTACHING', 'READY', 'DETACHING', 'FAILED', 'LOST']);

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}

/**
 * Reads a record's file. Throws with the reason when it is not one: a torn or foreign file must cost only itself, and must
 * not be half believed. The parts that undo relies on are checked; the rest was written by us in the same write.
 */
export function parseRecord(text: string): AttachmentRecord {
  const value: unknown = JSON.parse(text);
  check(typeof value === 'object' && value !== null, 'it is not an object');
  const record = value as Record<keyof AttachmentRecord, unknown>;
  check(record.version === recordVersion, `its version is ${String(record.version)}, not ${recordVersion}`);
  check(typeof record.taskId === 'string' && parseTaskId(record.taskId) !== undefined, 'it has no task id');
  check(typeof record.hash === 'string' && /^[0-9a-f]{20}$/.test(record.hash), 'it has no hash');
  check(typeof record.state === 'string' && states.has(record.state), `its state is ${String(record.state)}`);
  check(typeof record.bootId === 'string', 'it has no boot id');
  check(typeof record.request === 'object' && record.request !== null, 'it has no request');
  for (const list of ['plan', 'outcomes', 'warnings', 'undoPending'] as const)
    check(Array.isArray(record[list]), `${list} is not a list`);
  const eni = record.eni as { mac?: unknown } | null;
  check(eni === null || (typeof eni?.mac === 'string' && parseMac(eni.mac) !== undefined), 'its ENI has no MAC');
  return value as AttachmentRecord;
}
