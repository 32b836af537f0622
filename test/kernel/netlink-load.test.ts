import { spawn, type ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NetlinkSession } from '../../src/kernel/netlink.js';
import { World } from './world.js';

const stable = 60;

describe('a netlink session under load', () => {
  let world: World;
  let name: string;
  let session: NetlinkSession;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    world = new World();
    name = world.add();
    session = world.session(name);
    for (let number = 0; number < stable; number += 2)
      world.ip(name, 'link', 'add', `s${number}`, 'type', 'veth', 'peer', 'name', `s${number + 1}`);
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill();
    world.close();
  });

  /** Links that come and go all the time. */
  const churn = () => {
    const script =
      'while :; do echo "link add x0 type veth peer name x1"; echo "link del x0"; done | ip -n "$0" -force -batch -';
    children.push(spawn('bash', ['-c', script, name], { stdio: 'ignore' }));
  };
  const stableNames = Array.from({ length: stable }, (_, number) => `s${number}`).toSorted();
  const isStable = (link: { name: string }) => link.name.startsWith('s');

  it('answers listings and questions that are asked all at once', async () => {
    const rounds = Array.from({ length: 40 }, () =>
      Promise.all([session.links(), session.linkByName('s7'), session.links(), session.addresses(), session.routes(2)]),
    );
    for (const [first, single, second] of await Promise.all(rounds)) {
      expect(first).toHaveLength(stable + 1);
      expect(second).toEqual(first);
      expect(single).toEqual(first.find((link) => link.name === 's7'));
    }
  });

  it('asks again when a listing was interrupted, and misses no link that stayed', async () => {
    churn();
    for (let round = 0; round < 100; round += 1) {
      const names = (await session.links()).filter(isStable).map((link) => link.name);
      expect(names.toSorted()).toEqual(stableNames);
    }
  });

  it('carries out requests in the order of the calls without waiting for each answer', async () => {
    const { index } = (await session.linkByName('s0'))!;
    const mtus = Array.from({ length: 300 }, (_, number) => 1300 + number);
    await Promise.all(mtus.map((mtu) => session.setLink(index, { mtu })));
    expect(await session.linkByIndex(index)).toMatchObject({ mtu: 1599 });
  });

  it('lives through thousands of answers that nobody reads in time', async () => {
    const questions = Array.from({ length: 3000 }, () => session.linkByName('s1'));
    const until = Date.now() + 300;
    while (Date.now() < until);
    expect(new Set((await Promise.all(questions)).map((link) => link?.index)).size).toBe(1);
  });

  it('lives through eighty moves while links come and go', async () => {
    churn();
    const target = world.add();
    const [there, home] = [world.session(target), world.open(name)];
    const away = world.open(target);
    const { index } = (await session.linkByName('s4'))!;
    for (let round = 0; round < 40; round += 1) {
      await session.moveLink(index, away, { name: 'moved0', alias: `round ${round}` });
      const moved = await there.linkByName('moved0');
      expect(moved).toMatchObject({ alias: `round ${round}` });
      await Promise.all([
        there.moveLink(moved!.index, home, { name: 's4' }),
        session.links(),
        session.linkByName('s9'),
      ]);
      expect(await session.linkByIndex(index)).toMatchObject({ name: 's4' });
    }
  });
});
