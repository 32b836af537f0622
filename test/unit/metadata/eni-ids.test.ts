import { describe, expect, it } from 'vitest';
import { parseMac } from '../../../src/addresses/mac.js';
import { EniIds } from '../../../src/metadata/eni-ids.js';
import { HandClock, ScriptedMetadata, eniTable } from './scripted-metadata.js';

const listing = 'network/interfaces/macs/';
const macs = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'] as const;

function setUp() {
  const clock = new HandClock();
  const metadata = new ScriptedMetadata(clock, {
    [listing]: macs.map((mac) => `${mac}/`).join('\n'),
    ...eniTable(macs[2], { 'interface-id': 'eni-3' }),
  });
  return { clock, metadata, ids: new EniIds(metadata), wait: { deadline: 30_000, clock } };
}

describe('the MAC of an ENI that is known by its id', () => {
  it('is found among MACs of ENIs that are gone, which answer 404', async () => {
    const { ids, wait, metadata } = setUp();
    expect(await ids.resolveMac('eni-3', wait)).toBe(macs[2]);
    expect(metadata.reads).toHaveLength(1 + macs.length);
  });

  it('is not asked for twice', async () => {
    const { ids, wait, metadata } = setUp();
    await ids.resolveMac('eni-3', wait);
    const before = metadata.reads.length;
    expect(await ids.resolveMac('eni-3', wait)).toBe(macs[2]);
    expect(metadata.reads).toHaveLength(before);
  });

  it('costs one look for all who wait at once, and one read for each MAC not seen before', async () => {
    const { ids, wait, metadata } = setUp();
    Object.assign(
      metadata.table,
      eniTable(macs[0], { 'interface-id': 'eni-1' }),
      eniTable(macs[1], { 'interface-id': 'eni-2' }),
    );
    await Promise.all(['eni-1', 'eni-2', 'eni-3'].map((id) => ids.resolveMac(id, wait)));
    expect(metadata.reads).toHaveLength(1 + macs.length);
  });

  it('is waited for, and the id is named when it does not come', async () => {
    const { ids, wait, metadata, clock } = setUp();
    Object.assign(metadata.table, eniTable(macs[0], { 'interface-id': { value: 'eni-1', from: 8 } }));
    expect(await ids.resolveMac('eni-1', wait)).toBe(macs[0]);
    expect(clock.seconds).toBeLessThan(9.1);
    await expect(ids.resolveMac('eni-9', wait)).rejects.toMatchObject({
      code: 'metadata-timeout',
      detail: expect.stringContaining('eni-9'),
    });
    expect(clock.seconds).toBe(30);
  });

  it('is forgotten when the MAC is no longer listed, since another ENI may get it', async () => {
    const { ids, wait, metadata } = setUp();
    ids.note(parseMac(macs[0])!, 'eni-1');
    metadata.table[listing] = `${macs[1]}/\n${macs[2]}/`;
    await ids.resolveMac('eni-3', wait);
    metadata.table[listing] = `${macs[0]}/`;
    Object.assign(metadata.table, eniTable(macs[0], { 'interface-id': 'eni-7' }));
    expect(await ids.resolveMac('eni-7', wait)).toBe(macs[0]);
  });
});
