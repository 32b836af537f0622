import { describe, expect, it } from 'vitest';
import { withLearnedGateway } from '../../../src/attachments/record-changes.js';
import type { Ipv6 } from '../../../src/addresses/cidr.js';
import type { EniRecord } from '../../../src/store/record.js';
import { eniRequest, mac, record } from './example-records.js';

const eni: EniRecord = { ...eniRequest(), mac, interface: 'eth0', hostInterface: 'eth1', device: null };
const gateway = 'fe80::1' as Ipv6;

describe('a gateway that a router advertised', () => {
  const asked = record({ state: 'READY', eni });

  it('is noted in the record as it is when the answer comes, and changes nothing else of it', () => {
    const renamed = { ...asked, eni: { ...eni, hostInterface: 'ens7' } };
    expect(withLearnedGateway(renamed, asked, gateway)).toEqual({
      eni: { ...eni, hostInterface: 'ens7', ipv6Gateway: gateway },
    });
  });

  it('is not noted once the task is being detached, is gone, or is a later one of that id', () => {
    expect(withLearnedGateway({ ...asked, state: 'DETACHING' }, asked, gateway)).toBeUndefined();
    expect(withLearnedGateway(undefined, asked, gateway)).toBeUndefined();
    expect(withLearnedGateway({ ...asked, createdAt: 2_000 }, asked, gateway)).toBeUndefined();
  });
});
