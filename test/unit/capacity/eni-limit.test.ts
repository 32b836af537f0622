import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { EniLimit } from '../../../src/capacity/eni-limit.js';

function setUp({
  setting = null,
  instanceType = 'zz9.large',
  region = 'us-west-2',
}: {
  setting?: number | null;
  instanceType?: string | null;
  region?: string | null;
}) {
  const describeType = vi.fn<(type: string, region: string) => Promise<number>>();
  const logger = pino({ level: 'silent' });
  const warn = vi.spyOn(logger, 'warn');
  const time = { now: 0 };
  const host = () => ({ instanceType, region });
  const limit = new EniLimit({ setting, host, describe: describeType, logger, now: () => time.now });
  return { limit, describeType, warn, time };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the limit of the host', () => {
  it('is that of the setting, whatever the type', () => {
    const { limit } = setUp({ setting: 7, instanceType: 'm5.large' });
    expect(limit.current()).toEqual({ limit: 7, source: 'setting', cause: null });
  });

  it('is that of the table, without asking EC2', () => {
    const { limit, describeType } = setUp({ instanceType: 'm5.large' });
    expect(limit.current()).toEqual({ limit: 3, source: 'table', cause: null });
    expect(describeType).not.toHaveBeenCalled();
  });

  it('is what EC2 says of a type that the table does not have, asked once', async () => {
    const { limit, describeType } = setUp({});
    describeType.mockResolvedValue(11);
    expect(limit.current()).toMatchObject({ limit: null, source: null, cause: expect.stringContaining('being asked') });
    limit.current();
    await settled();
    expect(limit.current()).toEqual({ limit: 11, source: 'ec2', cause: null });
    expect(describeType.mock.calls).toEqual([['zz9.large', 'us-west-2']]);
  });

  it('is unknown with the cause when EC2 refuses, which is logged once, and EC2 is asked again later', async () => {
    const { limit, describeType, warn, time } = setUp({});
    describeType.mockRejectedValue(new Error('UnauthorizedOperation'));
    limit.current();
    await settled();
    expect(limit.current()).toEqual({
      limit: null,
      source: null,
      cause: 'zz9.large is not in the table, and EC2 could not be asked: UnauthorizedOperation',
    });
    time.now = 59_000;
    limit.current();
    expect(describeType).toHaveBeenCalledTimes(1);
    time.now = 61_000;
    limit.current();
    await settled();
    expect(describeType).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledTimes(1);
    describeType.mockResolvedValue(11);
    time.now = 61_000 + 121_000;
    limit.current();
    await settled();
    expect(limit.current()).toMatchObject({ limit: 11, source: 'ec2' });
  });

  it('is unknown while the type or the region is', () => {
    expect(setUp({ instanceType: null }).limit.current()).toMatchObject({ limit: null, source: null });
    const { limit, describeType } = setUp({ region: null });
    expect(limit.current().cause).toContain('region');
    expect(describeType).not.toHaveBeenCalled();
  });
});
