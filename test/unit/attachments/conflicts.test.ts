import { describe, expect, it } from 'vitest';
import { parseMac } from '../../../src/addresses/mac.js';
import type { PushedCredentials } from '../../../src/attachments/request.js';
import {
  isSameRequest,
  refuseEniInUse,
  refuseSameSandbox,
  refuseSandboxInUse,
  storedRequest,
} from '../../../src/attachments/conflicts.js';
import { attachRequest, eniRequest, mac, record } from './example-records.js';

const pushed: PushedCredentials = {
  source: 'pushed',
  roleArn: 'arn:aws:iam::123456789012:role/app',
  accessKeyId: 'A1',
  secretAccessKey: 's1',
  sessionToken: 't1',
  expiration: 1,
};

describe('the same request', () => {
  it('is equal after parsing, and by source and role of its credentials', () => {
    const request = attachRequest({ credentials: pushed });
    expect(
      isSameRequest(record({}, request), attachRequest({ credentials: { ...pushed, secretAccessKey: 's2' } })),
    ).toBe(true);
    expect(isSameRequest(record({}, request), attachRequest({ credentials: { ...pushed, roleArn: 'other' } }))).toBe(
      false,
    );
  });

  it.each([
    attachRequest({ eni: eniRequest({ mtu: 1400 }) }),
    attachRequest({ labels: { a: 'b' } }),
    attachRequest({ blockInstanceMetadata: false }),
    attachRequest({ sandbox: { kind: 'pid', pid: 7 } }),
  ])('is another when anything in it differs', (other) => expect(isSameRequest(record(), other)).toBe(false));

  it('is stored without secrets', () => {
    expect(storedRequest(attachRequest({ credentials: pushed })).credentials).toEqual({
      source: 'pushed',
      roleArn: pushed.roleArn,
    });
  });
});

describe('what another task has', () => {
  it('is refused by the MAC that it asked for, or that metadata gave it', () => {
    expect(() => refuseEniInUse([record()], { id: null, mac })).toThrow(/web-1/);
    const byId = record({}, attachRequest({ eni: eniRequest({ id: 'eni-1', mac: null }) }));
    expect(() => refuseEniInUse([byId], { id: 'eni-1', mac: null })).toThrow(/web-1/);
    expect(() => refuseEniInUse([record()], { id: null, mac: parseMac('02:00:00:00:00:02')! })).not.toThrow();
  });

  it('is not confused by fields that neither request gives', () => {
    const byId = record({}, attachRequest({ eni: eniRequest({ id: 'eni-1', mac: null }) }));
    expect(() => refuseEniInUse([byId], { id: 'eni-2', mac: null })).not.toThrow();
  });

  it('is refused by the sandbox, named alike or not', () => {
    const sandbox = { kind: 'netns', path: '/run/netns/x' } as const;
    expect(() => refuseSameSandbox([record({}, attachRequest({ sandbox }))], { ...sandbox })).toThrow(/web-1/);
    const holder = record({
      sandbox: { kind: 'netns', owned: false, containerId: null, pid: null, netns: '/run/netns/x', cookie: '42' },
    });
    expect(() => refuseSandboxInUse([holder], '42')).toThrow(/web-1/);
    expect(() => refuseSandboxInUse([holder], '43')).not.toThrow();
  });
});
