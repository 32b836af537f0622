/** Bodies of each kind for the API's document; every one passes the API's own checks. */
import type { NetworkDto } from './network.dto.js';

const roleArn = 'arn:aws:iam::123456789012:role/app';
const eni = { macAddress: '02:00:00:00:00:01' };

export const credentialsExamples = {
  'assume-role': {
    summary: 'A role that the service assumes and renews',
    value: { source: 'assume-role', roleArn, sessionName: 'web-1', durationSeconds: 3600 },
  },
  pushed: {
    summary: 'Credentials that the agent hands over',
    value: {
      source: 'pushed',
      roleArn,
      accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      sessionToken: 'AQoDYXdzEJr1K2EXAMPLETOKEN',
      expiration: '2030-11-30T12:00:00Z',
    },
  },
};

export const attachExamples = {
  mac: { summary: 'By hardware address; the rest comes from instance metadata', value: { eni } },
  id: { summary: 'By ENI id', value: { eni: { id: 'eni-0123456789abcdef0' } } },
  full: {
    summary: 'All given, so that nothing is read from metadata',
    value: {
      eni: {
        id: 'eni-0123456789abcdef0',
        macAddress: '02:00:00:00:00:01',
        ipv4Address: '172.31.13.14/20',
        ipv4Gateway: '172.31.0.1',
        ipv6Address: '2001:db8:1::5/64',
        ipv6Gateway: 'fe80::1',
        mtu: 9001,
      },
      blockInstanceMetadata: true,
      dns: { servers: ['172.31.0.2'], search: ['ec2.internal'], hostname: 'ip-172-31-13-14' },
      dhcp: true,
      labels: { service: 'web' },
    },
  },
  container: { summary: "Into a container of the caller's", value: { eni, sandbox: { containerId: '4f1c2d3e4b5a' } } },
  pid: { summary: 'Into the namespace of a process', value: { eni, sandbox: { pid: 4711 } } },
  netns: { summary: 'Into a namespace by its path', value: { eni, sandbox: { netns: '/run/netns/web-1' } } },
  'assume-role': {
    summary: 'With a role to assume',
    value: { eni, credentials: credentialsExamples['assume-role'].value },
  },
  pushed: { summary: 'With credentials of the agent', value: { eni, credentials: credentialsExamples.pushed.value } },
};

const relativeUri = '/v2/credentials/0f8fad5b-d9cb-469f-a165-70867728950e';

export const networkExample: NetworkDto = {
  taskId: 'web-1',
  state: 'READY',
  networkMode: 'container:4f1c2d3e4b5a',
  labels: { service: 'web' },
  sandbox: { kind: 'docker', containerId: '4f1c2d3e4b5a', pid: 4711, netns: '/proc/4711/ns/net', owned: true },
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
  lease: { client: 'dhclient', state: 'bound', expiresAt: '2030-11-30T12:00:00Z' },
  credentials: { source: 'assume-role', roleArn, relativeUri, expiration: '2030-11-30T12:00:00Z' },
  environment: {
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relativeUri,
    AWS_REGION: 'us-west-2',
    AWS_DEFAULT_REGION: 'us-west-2',
    AWS_EC2_METADATA_DISABLED: 'true',
  },
  steps: [{ name: 'move-eni', state: 'done', startedAt: '2030-11-30T11:00:00.004Z', durationMs: 18.2 }],
  createdAt: '2030-11-30T11:00:00.000Z',
  readyAt: '2030-11-30T11:00:00.023Z',
  attachMs: 23,
  warnings: [],
  error: null,
};
