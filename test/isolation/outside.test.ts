import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Neighbour } from '../lab/lab.js';
import { vpc } from '../lab/vpc.js';
import { Ground, baitPort, bridge, knock, server } from './ground.js';

describe('from outside the tasks, the credentials server', () => {
  let ground: Ground;
  let neighbour: Neighbour;
  beforeAll(async () => {
    ground = await Ground.lay();
    neighbour = await ground.lab.createNeighbour();
    // As Docker sets it on its hosts.
    await ground.lab.host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  });
  afterAll(() => ground?.lab.destroy());

  const doors = () => [ground.web.door, { address: bridge, port: 80 }, { address: ground.db.address, port: baitPort }];

  it('answers the task', async () => {
    const { web } = ground;
    expect(await knock(web.namespace, web.door)).toEqual([expect.stringMatching(/^HTTP 200 /)]);
  });

  it('does not answer the host', async () => {
    for (const outcome of await knock(ground.lab.host, ...doors())) expect(outcome).toMatch(/^(silent|E[A-Z]+)$/);
  });

  it("does not answer the host's neighbours, by way of the host or of a task", async () => {
    const { lab, web } = ground;
    const eni = web.network.eni.ipv4Address?.split('/')[0] ?? '';
    const reached = await knock(
      neighbour.namespace,
      { address: vpc.primary, port: baitPort },
      { address: eni, port: baitPort },
    );
    expect(reached, 'both are reached by their own addresses').toEqual(['open', 'open']);
    for (const gateway of [vpc.primary, eni]) {
      await neighbour.namespace.ipBatch([server, '169.254.172.0/22'].map((to) => `route replace ${to} via ${gateway}`));
      for (const outcome of await knock(neighbour.namespace, ...doors())) expect(outcome).toMatch(/^(silent|E[A-Z]+)$/);
    }
    expect(await knock(lab.host, { address: '127.0.0.1', port: baitPort })).toEqual(['open']);
  });

  it('does not answer a neighbour for whom a task forwards', async () => {
    const { web } = ground;
    await web.namespace.run('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv4.conf.all.rp_filter=0');
    const eni = web.network.eni.ipv4Address?.split('/')[0] ?? '';
    await neighbour.namespace.ipBatch([`route replace ${server} via ${eni}`]);
    const [answer] = await knock(neighbour.namespace, web.door);
    expect(answer).toMatch(/^(silent|E[A-Z]+)$/);
    const forwarded = await web.namespace.run('cat', '/proc/net/snmp');
    const [names = '', values = ''] = forwarded.split('\n');
    const count = Number(values.split(' ')[names.split(' ').indexOf('ForwDatagrams')]);
    expect(count, 'the task did forward').toBeGreaterThan(0);
  });
});
