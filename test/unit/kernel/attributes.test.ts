import { describe, expect, it } from 'vitest';
import {
  Attributes,
  attribute,
  byteAttribute,
  nestedAttribute,
  textAttribute,
  wordAttribute,
} from '../../../src/kernel/attributes.js';

/** Words of four bytes, in the order in which they are sent. */
const hex = (bytes: Buffer) => bytes.toString('hex').replace(/(.{8})(?=.)/g, '$1 ');

describe('an rtnetlink attribute', () => {
  it('is length, type and payload, padded to four bytes that its length does not count', () => {
    expect(hex(byteAttribute(9, 1))).toBe('05000900 01000000');
    expect(hex(wordAttribute(4, 1500))).toBe('08000400 dc050000');
    expect(hex(textAttribute(3, 'lo'))).toBe('07000300 6c6f0000');
    expect(hex(attribute(20, Buffer.alloc(0)))).toBe('04001400');
  });

  it('bears the flag for nesting when it holds others', () => {
    expect(hex(nestedAttribute(18, byteAttribute(1, 2), byteAttribute(3, 4)))).toBe(
      '14001280 05000100 02000000 05000300 04000000',
    );
  });

  it('is read back, from any offset and inside others', () => {
    const bytes = Buffer.concat([
      Buffer.from('header!!'),
      nestedAttribute(18, textAttribute(1, 'veth')),
      wordAttribute(4, 70000),
    ]);
    const attributes = new Attributes(bytes, 8);
    expect(attributes.nested(18)?.text(1)).toBe('veth');
    expect(attributes.word(4)).toBe(70000);
    expect(attributes.bytes(99)).toBeUndefined();
  });

  it('may come many times under one type', () => {
    const list = nestedAttribute(52, textAttribute(53, 'one'), byteAttribute(1, 1), textAttribute(53, 'two'));
    expect(new Attributes(list).texts(52, 53)).toEqual(['one', 'two']);
  });

  it.each([
    ['too short for a header', '0800'],
    ['longer than the message', 'ff000400dc050000'],
    ['shorter than its own header', '02000400'],
  ])('is left out when it is %s', (_what, text) => {
    expect(new Attributes(Buffer.from(text, 'hex')).bytes(4)).toBeUndefined();
  });

  it('holds an address of either family', () => {
    const bytes = Buffer.concat([
      attribute(1, Buffer.from([10, 0, 0, 1])),
      attribute(2, Buffer.from('20010db8000000000000000000000005', 'hex')),
    ]);
    const attributes = new Attributes(bytes);
    expect([attributes.address(1), attributes.address(2)]).toEqual(['10.0.0.1', '2001:db8::5']);
  });
});
