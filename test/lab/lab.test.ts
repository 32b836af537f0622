import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from './lab.js';

describe('a lab', () => {
  let lab: Lab;
  beforeAll(async () => {
    const before = performance.now();
    lab = await Lab.create();
    console.log(`Lab.create ${Math.round(performance.now() - before)} ms`);
  });
  afterAll(() => lab.destroy());

  it('has a gateway that the host reaches by both families', async () => {
    await lab.host.run('ping', '-c1', '-W2', '172.31.0.1');
    await lab.host.run('ping', '-c1', '-W2', '2001:db8:1::1');
    await lab.vpc.run('ping', '-c1', '-W2', '172.31.0.10');
  });

  it('hot-plugs an ENI, finds it wherever it is, and takes it away', async () => {
    const eni = await lab.createEni();
    expect(await eni.locate()).toEqual({ netns: lab.host.path, name: 'eth1' });
    const elsewhere = await lab.createNamespace();
    await lab.host.run('ip', 'link', 'set', 'eth1', 'netns', elsewhere.name, 'name', 'moved0');
    expect(await eni.locate()).toEqual({ netns: elsewhere.path, name: 'moved0' });
    await eni.detach();
    expect(await eni.locate()).toBeUndefined();
  });
});
