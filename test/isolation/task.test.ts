import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { vpc } from '../lab/vpc.js';
import { Ground, apiPort, bait, baitPort, bridge, knock, link, server } from './ground.js';

/** A privileged task changes its own network as it likes; what it reaches stays the same. */
describe('what a task reaches beyond its ENI', () => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.lay();
  });
  afterAll(() => ground?.lab.destroy());

  const others = () => [
    { address: server, port: apiPort },
    { address: server, port: baitPort },
    { address: bridge, port: 80 },
    { address: bridge, port: apiPort },
    { address: bridge, port: baitPort },
    { address: ground.db.address, port: baitPort },
    { address: vpc.primary, port: apiPort },
    { address: vpc.metadata, port: 80 },
  ];

  /** Whatever was tried, the server still answers the task itself, and its neighbour. */
  afterEach(async () => {
    const { web, db } = ground;
    expect(await knock(web.namespace, web.door)).toEqual([expect.stringMatching(/^HTTP 200 .*AKIAWEB/)]);
    expect(await knock(db.namespace, db.door)).toEqual([expect.stringMatching(/^HTTP 200 .*AKIADB/)]);
  });

  it('would answer if it could be reached', async () => {
    const { lab, db } = ground;
    const [api, onHost, metadata] = await knock(
      lab.host,
      { address: '127.0.0.1', port: apiPort },
      { address: vpc.primary, port: baitPort },
      { address: vpc.metadata, port: 80 },
    );
    expect([api, onHost, metadata]).toEqual(['open', 'open', 'open']);
    expect(await knock(db.namespace, { address: db.address, port: baitPort })).toEqual(['open']);
  });

  it('is the credentials server alone', async () => {
    const { web } = ground;
    expect(await knock(web.namespace, { address: server, port: 80 })).toEqual(['open']);
    for (const outcome of await knock(web.namespace, ...others())) expect(outcome).not.toBe('open');
  });

  it('is one port of that address, of all that there are', async () => {
    const ports = [...Array(1100).keys()].slice(1).concat([8080, 9100, 49152, 51678, 51679, apiPort, 65535]);
    const outcomes = await knock(ground.web.namespace, ...ports.map((port) => ({ address: server, port })));
    expect(ports.filter((_, n) => outcomes[n] === 'open')).toEqual([80]);
  });

  it("is not its neighbour's credentials, even by their path", async () => {
    const { web, db } = ground;
    const [answer] = await knock(web.namespace, db.door);
    expect(answer).toMatch(/^HTTP 403 /);
    expect(answer).not.toContain('secret-of-');
  });

  it('is no more when it replaces its routes', async () => {
    const { web, db, bridgeMac } = ground;
    const everything = [...others(), { address: vpc.primary, port: baitPort }];
    const linkLocal = others().slice(0, -2);
    const unblock = `route delete blackhole ${vpc.metadata}`;
    const neighbour = (address: string, mac: string) => `neigh replace ${address} lladdr ${mac} dev ${link}`;
    const gateway = (to: string) => `route replace ${to} via ${server} dev ${link} onlink`;
    const onLink = (to: string) => `route replace ${to} dev ${link}`;
    const ways = [
      // All that is link-local lies on the link, its neighbour's hardware address known.
      { lines: [onLink('169.254.172.0/22'), neighbour(db.address, db.mac)], doors: linkLocal },
      // The bridge is the gateway to everything.
      { lines: [unblock, gateway('default'), gateway(vpc.subnet)], doors: everything },
      // Every address is believed to be the bridge's own.
      {
        lines: [
          unblock,
          onLink('169.254.0.0/16'),
          onLink(vpc.subnet),
          ...[bridge, db.address, vpc.primary, vpc.metadata].map((address) => neighbour(address, bridgeMac)),
        ],
        doors: everything,
      },
    ];
    for (const { lines, doors } of ways) {
      await web.namespace.ipBatch(lines);
      const [credentials, ...rest] = await knock(web.namespace, web.door, ...doors);
      expect(credentials).toMatch(/^HTTP 200 /);
      for (const outcome of rest) expect(outcome).not.toBe('open');
      await restoreRoutes();
    }
  });

  async function restoreRoutes(): Promise<void> {
    const { web } = ground;
    await web.namespace.ipBatch([
      'route flush scope global',
      `route replace ${vpc.subnet} dev eth0 src ${web.network.eni.ipv4Address?.split('/')[0]}`,
      `route replace default via ${vpc.gateway} dev eth0`,
      `route replace ${server} dev ${link} scope link`,
      `route replace blackhole ${vpc.metadata}`,
    ]);
  }

  it("is nothing under its neighbour's address, with its hardware address or without", async () => {
    const { web, db } = ground;
    const forged = { ...db.door, from: db.address };
    await web.namespace.ipBatch([`address add ${db.address}/32 dev ${link}`]);
    expect(await knock(web.namespace, web.door, forged)).toEqual([expect.stringMatching(/^HTTP 200 /), 'silent']);
    expect(await knock(db.namespace, db.door)).toEqual([expect.stringMatching(/^HTTP 200 /)]);
    await web.namespace.ipBatch([`link set ${link} address ${db.mac}`]);
    expect(await knock(web.namespace, forged)).toEqual(['silent']);
    expect(await knock(db.namespace, db.door), 'while the other pretends').toEqual([
      expect.stringMatching(/^HTTP 200 /),
    ]);
    await web.namespace.ipBatch([`link set ${link} address ${web.mac}`, `address delete ${db.address}/32 dev ${link}`]);
  });

  it('is not its neighbour, to whom it pretends to be the server', async () => {
    const { web, db, bridgeMac } = ground;
    await web.namespace.ipBatch([`address add ${server}/32 dev ${link}`]);
    const listener = await bait(web.namespace, 80, server);
    // It answers for that address where it can, and claims it unasked.
    expect(await knock(web.namespace, web.door)).toEqual(['HTTP 200 bait']);
    // arping ends with 1: nobody answers to a claim.
    const claiming = web.namespace.run('sh', '-c', `arping -q -c 3 -U -I ${link} ${server} || true`);
    // The neighbour even asks who has the address, instead of going by its permanent entry.
    await db.namespace.ipBatch([`neigh delete ${server} dev ${link}`]);
    expect(await knock(db.namespace, db.door)).toEqual([expect.stringMatching(/^HTTP 200 .*AKIADB/)]);
    await claiming;
    const [entry] = await db.namespace.ip('neigh', 'show', 'to', server, 'dev', link);
    expect(entry?.['lladdr']).toBe(bridgeMac);
    listener.kill('SIGKILL');
    await web.namespace.ipBatch([`address delete ${server}/32 dev ${link}`]);
    await db.namespace.ipBatch([`neigh replace ${server} lladdr ${bridgeMac} dev ${link} nud permanent`]);
  });
});
