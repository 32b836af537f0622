import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vpc } from '../lab/vpc.js';
import { type Frame, Ground, altered, baitPort, knock, listenDuring, sendRaw, server } from './ground.js';

const synAck = 0x12;

/** With CAP_NET_RAW, which Docker gives every container, frames need not be true. */
describe('raw frames of a task', () => {
  let ground: Ground;
  let honest: Frame;
  beforeAll(async () => {
    ground = await Ground.lay();
    const { web, bridgeMac } = ground;
    honest = { from_mac: web.mac, to_mac: bridgeMac, from: web.address, to: server, from_port: 40_000, to_port: 80 };
  });
  afterAll(() => ground?.lab.destroy());

  it('are answered when they are true', async () => {
    const heard = await sendRaw(ground.web, honest);
    expect(heard).toContainEqual({
      from: server,
      to: ground.web.address,
      from_port: 80,
      to_port: 40_000,
      flags: synAck,
    });
  });

  it("bring no answer under its neighbour's address, with its hardware address or without", async () => {
    const { web, db } = ground;
    const forged = altered(honest, { from: db.address });
    expect(await sendRaw(web, forged, { ...forged, from_mac: db.mac, from_port: 40_001 })).toEqual([]);
    expect(await knock(db.namespace, db.door)).toEqual([expect.stringMatching(/^HTTP 200 /)]);
  });

  it("bring no answer under addresses of the host, the VPC or the bridge's own", async () => {
    const sources = [vpc.primary, vpc.gateway, '169.254.172.1', server, '169.254.169.254', '127.0.0.1'];
    const frames = sources.map((from, n) => altered(honest, { from, from_port: 41_000 + n }));
    expect(await sendRaw(ground.web, ...frames)).toEqual([]);
  });

  it('bring no answer from beyond the bridge', async () => {
    const targets = [vpc.primary, vpc.gateway, vpc.metadata, '127.0.0.1', ground.db.address];
    const frames = targets.flatMap((to, n) =>
      [80, baitPort].map((to_port) => altered(honest, { to, to_port, from_port: 42_000 + n })),
    );
    expect(await sendRaw(ground.web, ...frames)).toEqual([]);
  });

  it('never reach its neighbour, by its hardware address or by that of all', async () => {
    const { web, db } = ground;
    const aimed = altered(honest, { to: db.address, to_port: baitPort, from_port: 43_000 });
    const frames = [db.mac, 'ff:ff:ff:ff:ff:ff', '01:00:5e:00:00:01'].map((to_mac) => altered(aimed, { to_mac }));
    const heard = await listenDuring(db, async () => {
      await sendRaw(web, ...frames);
      await knock(db.namespace, db.door);
    });
    // What the server sent it was heard, so it did listen.
    expect(heard.some(({ from, to }) => from === server && to === db.address)).toBe(true);
    expect(heard.filter(({ from, from_port }) => from === web.address || from_port === 43_000)).toEqual([]);
  });
});
