import { describe, expect, it } from 'vitest';
import { type DockerEvent, EventLog } from '../../../src/sandboxes/event-log.js';

const die = (id: string, milliseconds: number): DockerEvent => ({
  Action: 'die',
  Actor: { ID: id },
  timeNano: milliseconds * 1e6,
});

describe('the log of Docker events', () => {
  it('lets an event through once, by whichever way it comes', () => {
    const log = new EventLog(0);
    expect(log.take(die('a', 10))).toBe(true);
    expect(log.take(die('a', 10))).toBe(false);
  });

  it('tells events apart by time, container and action', () => {
    const log = new EventLog(0);
    expect(
      [die('a', 10), die('a', 11), die('b', 10), { ...die('a', 10), Action: 'destroy' }].map((e) => log.take(e)),
    ).toEqual([true, true, true, true]);
  });

  it('looks back from where it last stopped to what must have arrived by now', () => {
    const log = new EventLog(1_000);
    const first = log.lookBack(4_000, 1_000);
    expect(first).toEqual({ since: 1_000, until: 3_000 });
    log.settle(first!);
    expect(log.lookBack(7_000, 1_000)).toEqual({ since: 3_000, until: 6_000 });
  });

  it('looks at a period again that it could not settle', () => {
    const log = new EventLog(1_000);
    log.lookBack(4_000, 1_000);
    expect(log.lookBack(7_000, 1_000)).toEqual({ since: 1_000, until: 6_000 });
  });

  it('has nothing to look back on at first', () => {
    expect(new EventLog(1_000).lookBack(1_500, 1_000)).toBeUndefined();
  });

  it('starts again from a clock that was set back', () => {
    const log = new EventLog(100_000);
    expect(log.lookBack(50_000, 1_000)).toBeUndefined();
    expect(log.lookBack(53_000, 1_000)).toEqual({ since: 50_000, until: 52_000 });
  });

  it('knows an event on the border of two periods, and forgets those before', () => {
    const log = new EventLog(0);
    log.take(die('old', 10));
    log.take(die('border', 3_000));
    log.settle({ since: 0, until: 3_000 });
    expect(log.take(die('border', 3_000))).toBe(false);
    expect(log.take(die('old', 10))).toBe(true);
  });
});
