import { parseIpv4Cidr, parseIpv4, type Ipv4Cidr, type Ipv4 } from '../../../src/addresses/cidr.js';
import { parseMac, type Mac } from '../../../src/addresses/mac.js';
import { parseTaskId, type TaskId } from '../../../src/attachments/task-id.js';
import type { AttachmentRecord } from '../../../src/store/record.js';

export const taskId = parseTaskId('web-1') as TaskId;
export const mac = parseMac('02:00:00:00:00:01') as Mac;
const ipv4 = parseIpv4Cidr('172.31.13.14/20') as Ipv4Cidr;

/** A task that has just been asked for: nothing is known but the request. */
export const pendingRecord: AttachmentRecord = {
  version: 1,
  taskId,
  hash: '1f2e3d4c5b6a79880011',
  bootId: 'boot',
  instanceId: null,
  state: 'PENDING',
  request: {
    eni: { id: null, mac, ipv4: null, ipv4Gateway: null, ipv6: null, ipv6Gateway: null, mtu: null },
    sandbox: null,
    blockInstanceMetadata: true,
    dns: null,
    dhcp: true,
    labels: { service: 'web' },
    credentials: null,
  },
  eni: null,
  sandbox: null,
  linkLocal: null,
  credentials: null,
  credentialsId: null,
  region: null,
  plan: [],
  outcomes: [],
  undoPending: [],
  warnings: [],
  error: null,
  createdAt: Date.UTC(2026, 10, 30, 11),
  readyAt: null,
  endedAt: null,
};

/** The same task with everything there. */
export const readyRecord: AttachmentRecord = {
  ...pendingRecord,
  state: 'READY',
  credentials: { source: 'pushed', roleArn: 'arn:aws:iam::123456789012:role/app' },
  eni: {
    id: 'eni-0123456789abcdef0',
    mac,
    interface: 'eth0',
    hostInterface: 'eth1',
    device: { index: 7, kind: null, peerIndex: null, permanentMac: mac },
    ipv4,
    ipv4Gateway: parseIpv4('172.31.0.1') as Ipv4,
    ipv6: null,
    ipv6Gateway: null,
    mtu: 9001,
  },
  sandbox: { kind: 'docker', owned: true, containerId: '4f1c', pid: 4711, netns: '/proc/4711/ns/net', cookie: '99' },
  linkLocal: { port: 've1f2e3d4c5b', interface: 'ecs-eth0', address: parseIpv4('169.254.172.2') as Ipv4 },
  credentialsId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  region: 'us-west-2',
  outcomes: [
    { name: 'move-eni', state: 'done', startedAt: pendingRecord.createdAt + 4, durationMs: 18.2345 },
    { name: 'start-dhcp', state: 'pending', startedAt: null, durationMs: null },
  ],
  readyAt: pendingRecord.createdAt + 23,
};
