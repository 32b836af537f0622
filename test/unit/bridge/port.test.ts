import { describe, expect, it } from 'vitest';
import type { Ipv4 } from '../../../src/addresses/cidr.js';
import type { Mac } from '../../../src/addresses/mac.js';
import { bridgeMac } from '../../../src/bridge/bridge-link.js';
import { hasPortFlags, portFlags, portsOf } from '../../../src/bridge/port.js';
import { link } from '../eni/link.js';

const mac = (last: number) => `0a:58:a9:fe:ac:0${last}` as Mac;
const address = (last: number) => `169.254.172.${last}` as Ipv4;

describe('the ports of the bridge', () => {
  const links = [
    link(2, 'ecs-eni', { kind: 'bridge' }),
    link(3, 've3', { kind: 'veth', master: 2, alias: 'te:x:3' }),
    link(4, 've4', { kind: 'veth', master: 2, alias: 'te:x:4' }),
    link(5, 'stray0', { kind: 'veth' }),
  ];
  const entry = (port: number, last: number, isStatic = true) => ({ port, mac: mac(last), isStatic });
  const neighbour = (last: number) => ({ index: 2, address: address(last), mac: mac(last), permanent: true });

  it('hold the address that their static entry and the neighbour of that MAC tell', () => {
    const ports = portsOf(
      links,
      2,
      [entry(3, 2), entry(4, 3, false), entry(4, 4)],
      [neighbour(2), neighbour(3), neighbour(5)],
    );
    expect(ports).toEqual([
      { name: 've3', alias: 'te:x:3', index: 3, address: '169.254.172.2' },
      { name: 've4', alias: 'te:x:4', index: 4, address: undefined },
    ]);
  });

  it('are apart only when every flag is as it must be', () => {
    expect(hasPortFlags(link(3, 've3', { portFlags }))).toBe(true);
    expect(hasPortFlags(link(3, 've3'))).toBe(false);
    for (const [flag, value] of Object.entries(portFlags))
      expect(hasPortFlags(link(3, 've3', { portFlags: { ...portFlags, [flag]: !value } }))).toBe(false);
  });
});

describe('the MAC of the bridge', () => {
  it('is locally administered, fixed by its address, and no task’s', () => {
    expect(bridgeMac({ bridgeAddress: address(1) })).toBe('0a:57:a9:fe:ac:01');
  });
});
