import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clearHostConfig } from '../../src/eni/host-config.js';
import { EniWorld, silent } from './eni-world.js';

describe("the host's configuration of an ENI", () => {
  let world: EniWorld;
  beforeEach(() => {
    world = new EniWorld();
    world.addEni('other0', '02:00:00:00:00:02');
  });
  afterEach(() => {
    world.close();
  });

  const onHost = (...args: string[]) => world.ip(world.hostName, ...args);
  const clear = async () => clearHostConfig(world.host.session, (await world.eni()).index, silent);
  const rules = (family: string) =>
    onHost(family, 'rule')
      .trim()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' ').trim());

  it('is gone afterwards: addresses, routes and rules of both families, and no others', async () => {
    onHost('address', 'add', '172.31.13.14/20', 'dev', 'eni0');
    onHost('address', 'add', '2001:db8:1::5/64', 'dev', 'eni0', 'nodad');
    onHost('address', 'add', '172.31.99.9/24', 'dev', 'other0');
    onHost('route', 'add', 'default', 'via', '172.31.0.1', 'dev', 'eni0', 'table', '101');
    onHost('route', 'add', 'default', 'via', '172.31.99.1', 'dev', 'other0', 'table', '102');
    onHost('route', 'add', '10.1.0.0/16', 'via', '172.31.0.1', 'dev', 'eni0');
    const before = [rules('-4'), rules('-6')];
    onHost('rule', 'add', 'from', '172.31.99.9', 'lookup', '102');
    const foreign = rules('-4').filter((rule) => !before[0]?.includes(rule));
    onHost('rule', 'add', 'from', '172.31.13.14', 'lookup', 'main', 'priority', '900');
    onHost('rule', 'add', 'to', '10.9.0.0/16', 'lookup', '101', 'priority', '901', 'suppress_prefixlength', '0');
    onHost('rule', 'add', 'iif', 'eni0', 'lookup', '103', 'priority', '902');
    onHost('rule', 'add', 'oif', 'eni0', 'fwmark', '0x7', 'lookup', '103', 'priority', '903');
    onHost('-6', 'rule', 'add', 'from', '2001:db8:1::5', 'lookup', '101', 'priority', '904');
    await clear();
    expect(rules('-4').toSorted()).toEqual([...(before[0] ?? []), ...foreign].toSorted());
    expect(rules('-6')).toEqual(before[1]);
    expect(onHost('route', 'show', 'table', 'all', 'dev', 'eni0')).toBe('');
    expect(onHost('route', 'show', 'table', '102')).toContain('default via 172.31.99.1');
    expect(onHost('-br', 'address', 'show', 'dev', 'eni0')).toMatch(/^eni0@\S+\s+DOWN\s*$/);
    expect(onHost('-br', 'address', 'show', 'dev', 'other0')).toContain('172.31.99.9/24');
    await clear();
  });

  it('keeps a rule to a table that other links use too', async () => {
    onHost('address', 'add', '172.31.13.14/20', 'dev', 'eni0');
    onHost('address', 'add', '172.31.99.9/24', 'dev', 'other0');
    onHost('route', 'add', 'default', 'via', '172.31.0.1', 'dev', 'eni0', 'table', '101');
    onHost('route', 'add', '10.0.0.0/8', 'via', '172.31.99.1', 'dev', 'other0', 'table', '101');
    onHost('rule', 'add', 'from', '10.3.0.0/16', 'lookup', '101', 'priority', '900');
    await clear();
    expect(rules('-4')).toContain('900: from 10.3.0.0/16 lookup 101');
  });
});
