import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { jsonLines } from '../../../src/sandboxes/json-lines.js';

async function all(stream: Readable): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of jsonLines(stream)) values.push(value);
  return values;
}

describe('lines of JSON', () => {
  it('are told apart by either line end, wherever the chunks break', async () => {
    const bytes = Buffer.from('{"a":1}\r\n{"name":"ä"}\n\n{"b":2}');
    const chunks = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await all(Readable.from(chunks, { objectMode: false }))).toEqual([{ a: 1 }, { name: 'ä' }, { b: 2 }]);
  });

  it('fail when one is not JSON', async () => {
    await expect(all(Readable.from(['{"a":1}\n<html>\n']))).rejects.toThrow(SyntaxError);
  });

  it('fail with their stream', async () => {
    const stream = new PassThrough();
    const reading = all(stream);
    stream.write('{"a":1}\n');
    stream.destroy(new Error('cut off'));
    await expect(reading).rejects.toThrow('cut off');
  });

  it('close the stream that is left early', async () => {
    const stream = new PassThrough();
    stream.write('{"a":1}\n{"a":2}\n');
    for await (const _value of jsonLines(stream)) break;
    expect(stream.destroyed).toBe(true);
  });
});
