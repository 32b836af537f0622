import { describe, expect, it } from 'vitest';
import type { Ipv4, Ipv6, Ipv6Cidr } from '../../../src/addresses/cidr.js';
import { type PlanInput, planAttach } from '../../../src/attachments/plan.js';
import { address, attachRequest, eniRequest, ipv4, mac } from './example-records.js';

const hash = '0123456789abcdef0123';
const link = { name: 'eth1', mtu: 9001, txQueueLength: 1000, flags: 0 };
const eni = { id: 'eni-1', mac, ipv4, ipv4Gateway: null, ipv6: null, ipv6Gateway: null };

function input(change: Partial<PlanInput> = {}): PlanInput {
  return {
    hash,
    request: attachRequest(),
    eni,
    link,
    address,
    sandboxKind: 'netns',
    credentialsId: 'id-1',
    settings: { instance: 'task-eni', interface: 'eth0', pauseImage: 'pause:1', dhcpClient: 'auto' },
    ...change,
  };
}

describe('the plan of an attach', () => {
  it('is every change to the host, in order, with every name chosen', () => {
    expect(planAttach(input())).toEqual([
      { kind: 'reserve-address', address: '169.254.172.2' },
      {
        kind: 'prepare-sandbox',
        sandbox: { kind: 'netns', owned: true, name: `task-eni-${hash}`, dns: null, hosts: [] },
      },
      { kind: 'clear-host-config', mac },
      {
        kind: 'connect-bridge',
        port: 've0123456789',
        alias: `te:task-eni:${hash}`,
        interface: 'ecs-eth0',
        address: '169.254.172.2',
        mac: '0a:58:a9:fe:ac:02',
      },
      { kind: 'move-eni', mac, alias: `te:task-eni:${hash}:9001,1000,0,eth1`, former: link },
      {
        kind: 'configure-eni',
        mac,
        interface: 'eth0',
        ipv4,
        ipv4Gateway: '172.31.0.1',
        ipv6: null,
        ipv6Gateway: null,
        mtu: 9001,
        blockInstanceMetadata: true,
      },
      { kind: 'start-dhcp', interface: 'eth0', ipv4: '172.31.13.14', ipv6: null },
    ]);
  });

  it('takes the gateway and the MTU that the request gives', () => {
    const request = attachRequest({ eni: eniRequest({ mtu: 1400 }) });
    const plan = planAttach(input({ request, eni: { ...eni, ipv4Gateway: '172.31.0.9' as Ipv4 } }));
    expect(plan).toContainEqual(
      expect.objectContaining({ kind: 'configure-eni', ipv4Gateway: '172.31.0.9', mtu: 1400 }),
    );
  });

  it('invents no IPv4 gateway for an ENI with IPv6 only', () => {
    const ipv6 = { address: '2001:db8:1::5' as Ipv6, prefix: 64 } as Ipv6Cidr;
    const plan = planAttach(input({ eni: { ...eni, ipv4: null, ipv6 } }));
    expect(plan).toContainEqual(expect.objectContaining({ kind: 'configure-eni', ipv4Gateway: null, ipv6 }));
    expect(plan).toContainEqual({ kind: 'start-dhcp', interface: 'eth0', ipv4: null, ipv6: '2001:db8:1::5' });
  });

  it('leaves the DHCP client out when the request or the host does without', () => {
    const has = (plan: ReturnType<typeof planAttach>) => plan.some(({ kind }) => kind === 'start-dhcp');
    expect(has(planAttach(input({ request: attachRequest({ dhcp: false }) })))).toBe(false);
    expect(has(planAttach(input({ settings: { ...input().settings, dhcpClient: 'off' } })))).toBe(false);
  });

  it('names the host in the sandbox it makes, by the ENI address', () => {
    const dns = { servers: [], search: [], hostname: 'ip-172-31-13-14' };
    const [, sandbox] = planAttach(input({ sandboxKind: 'docker', request: attachRequest({ dns }) }));
    expect(sandbox).toEqual({
      kind: 'prepare-sandbox',
      sandbox: {
        kind: 'docker',
        owned: true,
        name: `task-eni-${hash}`,
        image: 'pause:1',
        dns,
        hosts: ['ip-172-31-13-14:172.31.13.14'],
      },
    });
  });

  it('holds no secret of pushed credentials', () => {
    const credentials = {
      source: 'pushed',
      roleArn: 'arn:aws:iam::123456789012:role/app',
      accessKeyId: 'AKIASECRET',
      secretAccessKey: 'very-secret',
      sessionToken: 'token-secret',
      expiration: 1,
    } as const;
    const text = JSON.stringify(planAttach(input({ request: attachRequest({ credentials }) })));
    expect(text).toContain('register-credentials');
    expect(text.toLowerCase()).not.toContain('secret"');
    expect(text).not.toMatch(/AKIASECRET|very-secret|token-secret/);
  });
});
