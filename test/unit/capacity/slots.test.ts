import { describe, expect, it } from 'vitest';
import { parseMac } from '../../../src/addresses/mac.js';
import { type EniViews, countAttached, countAvailable, doubtfulMacs } from '../../../src/capacity/slots.js';

const mac = (number: number) => parseMac(`02:00:00:00:00:0${number}`)!;
const views = (given: Partial<EniViews>): EniViews => ({ listed: [], links: [], tasks: [], ...given });

describe('the ENIs of a host', () => {
  it('are the primary one, foreign ones and those in tasks, each once', () => {
    const seen = views({
      listed: [mac(1), mac(2), mac(3)],
      links: [{ mac: mac(1) }, { mac: mac(2) }],
      tasks: [mac(3)],
    });
    expect(doubtfulMacs(seen)).toEqual([]);
    expect(countAttached(seen, [])).toBe(3);
  });

  it('count before metadata lists them', () => {
    expect(countAttached(views({ listed: [mac(1)], links: [{ mac: mac(1) }, { mac: mac(2) }] }), [])).toBe(2);
    expect(countAttached(views({ listed: [mac(1)], tasks: [mac(3)] }), [])).toBe(2);
  });

  it('do not count any more once they are gone, though metadata still lists them', () => {
    const seen = views({ listed: [mac(1), mac(2)], links: [{ mac: mac(1) }] });
    expect(doubtfulMacs(seen)).toEqual([mac(2)]);
    expect(countAttached(seen, [mac(2)])).toBe(1);
  });

  it('count in namespaces of others too', () => {
    expect(countAttached(views({ listed: [mac(1), mac(2)], links: [{ mac: mac(1) }] }), [])).toBe(2);
  });

  it('are not the loopback, nor what software made', () => {
    const links = [{ mac: parseMac('00:00:00:00:00:00') }, { mac: mac(7), kind: 'bridge' }, { mac: undefined }];
    expect(countAttached(views({ links }), [])).toBe(0);
  });

  it('may be links of software when metadata lists them, as in a lab', () => {
    const seen = views({ listed: [mac(1)], links: [{ mac: mac(1), kind: 'veth' }] });
    expect(doubtfulMacs(seen)).toEqual([]);
    expect(countAttached(seen, [])).toBe(1);
  });

  it('are known by the address that the hardware came with', () => {
    const renamed = { mac: mac(9), permanentMac: mac(1) };
    expect(countAttached(views({ listed: [mac(1)], links: [renamed] }), [])).toBe(1);
  });

  it('can be counted by either view alone, and not without both', () => {
    expect(countAttached(views({ listed: null, links: [{ mac: mac(1) }], tasks: [mac(2)] }), [])).toBe(2);
    expect(countAttached(views({ listed: [mac(1), mac(2)], links: null }), [])).toBe(2);
    expect(countAttached(views({ listed: null, links: null, tasks: [mac(2)] }), [])).toBeNull();
  });
});

describe('the room for more', () => {
  it('is what is left of the limit, and never negative', () => {
    expect(countAvailable(3, 1)).toBe(2);
    expect(countAvailable(3, 3)).toBe(0);
    expect(countAvailable(2, 5)).toBe(0);
  });

  it('is unknown without either number', () => {
    expect(countAvailable(null, 1)).toBeNull();
    expect(countAvailable(3, null)).toBeNull();
  });
});
