import { describe, expect, it } from 'vitest';
import { viewNetwork } from '../../../src/api/network-view.js';
import { pendingRecord, readyRecord } from './sample-record.js';

const end = Date.UTC(2026, 10, 30, 12);
const lease = { client: 'dhclient', state: 'bound', expiresAt: end } as const;
const nothingLive = { lease: undefined, credentialsExpiration: null };

describe('the network of a task as callers see it', () => {
  it('has every key once it is ready', () => {
    expect(viewNetwork(readyRecord, 'ecs-eni', { lease, credentialsExpiration: end })).toEqual({
      taskId: 'web-1',
      state: 'READY',
      networkMode: 'container:4f1c',
      labels: { service: 'web' },
      sandbox: { kind: 'docker', containerId: '4f1c', pid: 4711, netns: '/proc/4711/ns/net', owned: true },
      eni: {
        id: 'eni-0123456789abcdef0',
        macAddress: '02:00:00:00:00:01',
        interface: 'eth0',
        hostInterface: 'eth1',
        ipv4Address: '172.31.13.14/20',
        ipv4Gateway: '172.31.0.1',
        ipv6Address: null,
        ipv6Gateway: null,
        mtu: 9001,
      },
      linkLocal: {
        bridge: 'ecs-eni',
        hostInterface: 've1f2e3d4c5b',
        interface: 'ecs-eth0',
        ipv4Address: '169.254.172.2',
      },
      blockInstanceMetadata: true,
      lease: { client: 'dhclient', state: 'bound', expiresAt: '2026-11-30T12:00:00Z' },
      credentials: {
        source: 'pushed',
        roleArn: 'arn:aws:iam::123456789012:role/app',
        relativeUri: '/v2/credentials/0f8fad5b-d9cb-469f-a165-70867728950e',
        expiration: '2026-11-30T12:00:00Z',
      },
      environment: {
        AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/0f8fad5b-d9cb-469f-a165-70867728950e',
        AWS_REGION: 'us-west-2',
        AWS_DEFAULT_REGION: 'us-west-2',
        AWS_EC2_METADATA_DISABLED: 'true',
      },
      steps: [
        { name: 'move-eni', state: 'done', startedAt: '2026-11-30T11:00:00.004Z', durationMs: 18.2 },
        { name: 'start-dhcp', state: 'pending', startedAt: null, durationMs: null },
      ],
      createdAt: '2026-11-30T11:00:00.000Z',
      readyAt: '2026-11-30T11:00:00.023Z',
      attachMs: 23,
      warnings: [],
      error: null,
    });
  });

  it('has the same keys while it is pending, null where nothing is known', () => {
    const ready = viewNetwork(readyRecord, 'ecs-eni', { lease, credentialsExpiration: end });
    const pending = viewNetwork(pendingRecord, 'ecs-eni', nothingLive);
    expect(Object.keys(pending)).toEqual(Object.keys(ready));
    expect(Object.keys(pending.eni)).toEqual(Object.keys(ready.eni));
    expect(pending).toMatchObject({
      networkMode: null,
      sandbox: null,
      eni: { id: null, macAddress: '02:00:00:00:00:01', interface: null, hostInterface: null },
      linkLocal: null,
      lease: { client: null, state: 'off', expiresAt: null },
      credentials: null,
      environment: { AWS_EC2_METADATA_DISABLED: 'true' },
      readyAt: null,
      attachMs: null,
    });
  });

  it('joins containers by path when the sandbox is no container', () => {
    const sandbox = {
      kind: 'netns',
      owned: true,
      containerId: null,
      pid: null,
      netns: '/run/netns/x',
      cookie: '1',
    } as const;
    expect(viewNetwork({ ...readyRecord, sandbox }, 'ecs-eni', nothingLive).networkMode).toBe('ns:/run/netns/x');
  });

  it('does not tell the SDKs to leave metadata alone when it is not blocked', () => {
    const request = { ...readyRecord.request, blockInstanceMetadata: false };
    const { environment } = viewNetwork({ ...readyRecord, request }, 'ecs-eni', nothingLive);
    expect(environment).not.toHaveProperty('AWS_EC2_METADATA_DISABLED');
  });

  it('has no credentials once they are deleted', () => {
    const network = viewNetwork({ ...readyRecord, credentials: null }, 'ecs-eni', nothingLive);
    expect(network.credentials).toBeNull();
    expect(network.environment).not.toHaveProperty('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  });

  it('tells why it failed', () => {
    const error = { code: 'step-failed', detail: 'EBUSY', step: 'move-eni' } as const;
    expect(viewNetwork({ ...pendingRecord, state: 'FAILED', error }, 'ecs-eni', nothingLive).error).toEqual(error);
  });
});
