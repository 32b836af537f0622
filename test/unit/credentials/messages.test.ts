import { describe, expect, it } from 'vitest';
import { LineReader } from '../../../src/credentials/server/lines.js';
import { formatMessage, messageLineLimit, parseMessage } from '../../../src/credentials/server/messages.js';

describe('a message', () => {
  it('comes through as it was sent', () => {
    const entry = { id: 'a', taskId: 'web\n1', address: '169.254.172.2', credentials: null };
    const line = formatMessage(3, { do: 'put', entry });
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(parseMessage(line.trimEnd())).toEqual({ seq: 3, do: 'put', entry });
  });

  it('fits a line even when a 64 KiB body of control characters was pushed', () => {
    const sessionToken = '\u0001'.repeat(64 * 1024);
    const credentials = { roleArn: '', accessKeyId: '', secretAccessKey: '', sessionToken, expiration: 0 };
    const line = formatMessage(1, { do: 'put', entry: { id: 'a', taskId: 'b', address: 'c', credentials } });
    expect(line.length).toBeLessThan(messageLineLimit);
  });

  it.each([
    '{"seq":1,"do":"put","entry":{"secretAccessKey":"HUSH"',
    '"HUSH"',
    '{"seq":"HUSH","do":"put"}',
    '{"seq":1,"do":"HUSH"}',
  ])('that is broken is refused without a word of it: %s', (line) => {
    expect(() => parseMessage(line)).toThrow(/^(?!.*HUSH)/);
  });
});

describe('a stream of lines', () => {
  it('is cut at its newlines, wherever the chunks are', () => {
    const reader = new LineReader(100);
    expect(reader.push('a')).toEqual([]);
    expect(reader.push('b\ncd\ne')).toEqual(['ab', 'cd']);
    expect(reader.push('\n')).toEqual(['e']);
  });

  it('is not followed beyond the longest line', () => {
    const reader = new LineReader(10);
    expect(() => reader.push('x'.repeat(11))).toThrow('longer than 10');
    expect(() => new LineReader(10).push(`${'x'.repeat(11)}\n`)).toThrow('longer than 10');
    expect(() => new LineReader(10).push('xxxxxx')).not.toThrow();
  });
});
