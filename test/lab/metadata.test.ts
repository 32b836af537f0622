import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Eni } from './eni.js';
import { Lab } from './lab.js';

describe("a lab's instance metadata", () => {
  let lab: Lab;
  let eni: Eni;
  let token: string;

  const curl = async (path: string, ...args: string[]) => {
    const url = `http://169.254.169.254/latest/${path}`;
    const text = await lab.host.run('curl', '-s', '-m2', '-w\n%{http_code}', ...args, url);
    const cut = text.lastIndexOf('\n');
    return { status: Number(text.slice(cut + 1)), text: text.slice(0, cut) };
  };
  const newToken = async () => (await curl('api/token', '-XPUT', '-HX-aws-ec2-metadata-token-ttl-seconds: 60')).text;
  const get = (path: string) => curl(path, `-HX-aws-ec2-metadata-token: ${token}`);
  const key = (name: string) => get(`meta-data/network/interfaces/macs/${eni.mac}/${name}`);

  beforeAll(async () => {
    lab = await Lab.create();
    eni = await lab.createEni();
  });
  afterAll(() => lab.destroy());
  beforeEach(async () => {
    await lab.metadata.heal();
    token = await newToken();
    await lab.metadata.resetRequests();
  });

  it('wants a token, and takes a bad one for none', async () => {
    expect((await curl('meta-data/mac')).status).toBe(401);
    expect((await curl('meta-data/mac', '-HX-aws-ec2-metadata-token: x')).status).toBe(401);
    expect((await curl('api/token', '-XPUT')).status).toBe(400);
    expect((await curl('api/token')).status).toBe(405);
    await lab.metadata.allowVersion1(true);
    expect((await curl('meta-data/mac')).status).toBe(200);
    await lab.metadata.allowVersion1(false);
  });

  it('lists folders with a slash, and names the primary interface', async () => {
    const { text: mac } = await get('meta-data/mac');
    const listing = await get('meta-data/network/interfaces/macs/');
    expect(listing.text.split('\n')).toEqual([`${mac}/`, `${eni.mac}/`]);
    expect((await get('meta-data/placement/')).text).toBe('availability-zone\nregion');
    expect((await get('meta-data/nothing')).status).toBe(404);
  });

  it('knows each ENI with the addresses that it has', async () => {
    expect((await key('local-ipv4s')).text).toBe(eni.ipv4Address.replace('/20', ''));
    expect((await key('subnet-ipv4-cidr-block')).text).toBe('172.31.0.0/20');
    expect((await key('ipv6s')).text).toBe(eni.ipv6Address?.replace('/64', ''));
    expect((await key('interface-id')).text).toBe(eni.id);
    await eni.detach();
    expect((await key('interface-id')).status).toBe(404);
    eni = await lab.createEni();
  });

  it('says who the instance is, and what its role may use', async () => {
    await lab.metadata.setInstance({ instanceId: 'i-0fedcba9876543210' });
    expect(JSON.parse((await get('dynamic/instance-identity/document')).text)).toMatchObject({
      instanceId: 'i-0fedcba9876543210',
      region: 'us-west-2',
    });
    const { text: role } = await get('meta-data/iam/security-credentials/');
    const credentials = await get(`meta-data/iam/security-credentials/${role}`);
    expect(JSON.parse(credentials.text)).toMatchObject({ Code: 'Success', AccessKeyId: 'ASIALABHOST000000001' });
    await lab.metadata.setRole(null);
    expect((await get('meta-data/iam/security-credentials/')).status).toBe(404);
  });

  it('hides a key for a while', async () => {
    await lab.metadata.hideKey(eni.mac, 'ipv6s', 400);
    expect((await key('ipv6s')).status).toBe(404);
    expect((await key('mac')).status).toBe(200);
    await expect.poll(async () => (await key('ipv6s')).status).toBe(200);
  });

  it('fails, delays and hangs as told', async () => {
    await lab.metadata.fail({ kind: 'error', key: 'mac', times: 1 });
    expect((await get('meta-data/mac')).status).toBe(500);
    expect((await get('meta-data/mac')).status).toBe(200);
    await lab.metadata.delayKey(eni.mac, 'mac', 300);
    const start = performance.now();
    expect((await key('mac')).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(300);
    await lab.metadata.fail({ kind: 'hang' });
    await expect(get('meta-data/mac')).rejects.toThrow('ended with 28');
  });

  it('lists a stale interface that has no keys', async () => {
    await lab.metadata.addStaleInterface('02:AA:00:00:00:01');
    expect((await get('meta-data/network/interfaces/macs/')).text).toContain('02:aa:00:00:00:01/');
    expect((await get('meta-data/network/interfaces/macs/02:aa:00:00:00:01/mac')).status).toBe(404);
    await lab.metadata.removeInterface('02:aa:00:00:00:01');
  });

  it('forgets tokens, and may honour none', async () => {
    await lab.metadata.invalidateTokens();
    expect((await get('meta-data/mac')).status).toBe(401);
    token = await newToken();
    expect((await get('meta-data/mac')).status).toBe(200);
    await lab.metadata.refuseTokens();
    token = await newToken();
    expect(token).not.toBe('');
    expect((await get('meta-data/mac')).status).toBe(401);
  });

  it('refuses connections while stopped, and knows all again afterwards', async () => {
    await lab.metadata.stop();
    await expect(get('meta-data/mac')).rejects.toThrow('ended with 7');
    await lab.metadata.start();
    expect((await key('mac')).text).toBe(eni.mac);
  });

  it('tells what it was asked, with which token, and what it answered', async () => {
    await key('mac');
    await get('meta-data/nothing');
    const requests = await lab.metadata.requests();
    expect(requests).toMatchObject([
      { method: 'GET', path: `meta-data/network/interfaces/macs/${eni.mac}/mac`, token, status: 200 },
      { method: 'GET', path: 'meta-data/nothing', token, status: 404 },
    ]);
  });
});
