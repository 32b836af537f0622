import { describe, expect, it } from 'vitest';
import { AddressPool, nextFree, poolCapacity } from '../../../src/addresses/pool.js';
import { type Ipv4, type Ipv4Cidr, parseIpv4Cidr } from '../../../src/addresses/cidr.js';

const subnet = parseIpv4Cidr('169.254.172.0/22') as Ipv4Cidr;
const small = parseIpv4Cidr('169.254.172.0/29') as Ipv4Cidr;

describe('the pool of link-local addresses', () => {
  it('has 1021 addresses in a /22: all but network, broadcast and the bridge', () => {
    expect(poolCapacity(subnet)).toBe(1021);
  });

  it('gives out every address once, over .255 and .0, and refuses the 1022nd', () => {
    const pool = new AddressPool(subnet, undefined);
    const given = Array.from({ length: 1021 }, (_, index) => pool.reserve(`hash-${index}`));
    expect(new Set(given).size).toBe(1021);
    expect(given[0]).toBe('169.254.172.2');
    expect(given).toContain('169.254.172.255');
    expect(given).toContain('169.254.173.0');
    expect(given.at(-1)).toBe('169.254.175.254');
    expect(given).not.toContain('169.254.172.1');
    expect(pool.reserve('one-more')).toBeUndefined();
  });

  it('lets a freed address rest until all others had their turn', () => {
    const pool = new AddressPool(small, undefined);
    const turns = Array.from({ length: 7 }, () => {
      const address = pool.reserve('task') as Ipv4;
      pool.release(address, 'task');
      return address;
    });
    expect(turns.map((address) => address.split('.').at(-1))).toEqual(['2', '3', '4', '5', '6', '2', '3']);
  });

  it('gives the one address that is free when all others are held', () => {
    const pool = new AddressPool(small, undefined);
    const given = Array.from({ length: 5 }, (_, index) => pool.reserve(`hash-${index}`) as Ipv4);
    pool.release(given[2] as Ipv4, 'hash-2');
    expect(pool.reserve('late')).toBe(given[2]);
  });

  it('goes on where it stood before a restart', () => {
    expect(nextFree(small, () => false, '169.254.172.4' as Ipv4)).toBe('169.254.172.5');
    expect(nextFree(small, () => false, '169.254.172.6' as Ipv4)).toBe('169.254.172.2');
  });

  it('starts over when the remembered address is of another subnet', () => {
    expect(nextFree(small, () => false, '10.0.0.9' as Ipv4)).toBe('169.254.172.2');
  });

  it('lets nobody release or claim what another task holds', () => {
    const pool = new AddressPool(small, undefined);
    const address = pool.reserve('owner') as Ipv4;
    pool.release(address, 'stranger');
    expect(pool.holder(address)).toBe('owner');
    expect(pool.claim(address, 'stranger')).toBe(false);
    expect(pool.claim(address, 'owner')).toBe(true);
  });
});
