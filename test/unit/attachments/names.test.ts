import { describe, expect, it } from 'vitest';
import type { Ipv4 } from '../../../src/addresses/cidr.js';
import { eniAlias, linkAlias, linkLocalMac, parseMark, portName, taskHash } from '../../../src/attachments/names.js';
import { type TaskId, parseTaskId } from '../../../src/attachments/task-id.js';

const hashOf = (id: string, instance = 'task-eni') => taskHash(instance, id as TaskId);

describe('names made from a task id', () => {
  it('differ for ids that differ late, in case, or only by instance', () => {
    const hashes = [
      hashOf('task-aaaaaaaaaaaaaaaa-1'),
      hashOf('task-aaaaaaaaaaaaaaaa-2'),
      hashOf('Task-aaaaaaaaaaaaaaaa-1'),
      hashOf('a'.repeat(255)),
      hashOf('task-aaaaaaaaaaaaaaaa-1', 'task-eni-2'),
    ];
    expect(new Set(hashes.map(portName)).size).toBe(5);
  });

  it('fit a link name and an alias', () => {
    const hash = hashOf('x');
    expect(portName(hash).length).toBeLessThanOrEqual(15);
    const former = { name: 'a'.repeat(15), mtu: 65535, txQueueLength: 4294967295, flags: 4294967295 };
    expect(eniAlias('i'.repeat(63), hash, former).length).toBeLessThanOrEqual(254);
  });

  it('mark a link so that the mark alone tells how it was', () => {
    const former = { name: 'en,s5', mtu: 9001, txQueueLength: 1000, flags: 256 };
    const hash = hashOf('x');
    expect(parseMark(eniAlias('task-eni', hash, former))).toEqual({ instance: 'task-eni', hash, former });
    expect(parseMark(linkAlias('task-eni', hash))).toEqual({ instance: 'task-eni', hash, former: undefined });
  });

  it.each(['', 'te:x', 'te:a:zz', 'eth0', `xte:a:${'0'.repeat(20)}`])('see no mark in the alias %j', (alias) =>
    expect(parseMark(alias)).toBeUndefined(),
  );

  it('give each link-local address a MAC of its own', () => {
    expect(linkLocalMac('169.254.172.2' as Ipv4)).toBe('0a:58:a9:fe:ac:02');
  });
});

describe('task ids', () => {
  it.each(['../../x', '', '-a', 'a/b', 'a b', 'a'.repeat(256), 'ä'])('%j is none', (text) =>
    expect(parseTaskId(text)).toBeUndefined(),
  );
  it.each(['a', 'A.b_c:d-e', '0'.repeat(255)])('%j is one', (text) => expect(parseTaskId(text)).toBe(text));
});
