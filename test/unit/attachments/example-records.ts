import { parseIpv4Cidr, type Ipv4, type Ipv4Cidr } from '../../../src/addresses/cidr.js';
import { type Mac, parseMac } from '../../../src/addresses/mac.js';
import { pendingRecord } from '../../../src/attachments/record-changes.js';
import type { AttachRequest, EniRequest } from '../../../src/attachments/request.js';
import type { TaskId } from '../../../src/attachments/task-id.js';
import { taskHash } from '../../../src/attachments/names.js';
import type { AttachmentRecord } from '../../../src/store/record.js';

export const mac = parseMac('02:00:00:00:00:01') as Mac;
export const ipv4 = parseIpv4Cidr('172.31.13.14/20') as Ipv4Cidr;
export const address = '169.254.172.2' as Ipv4;

export function eniRequest(change: Partial<EniRequest> = {}): EniRequest {
  return { id: null, mac, ipv4: null, ipv4Gateway: null, ipv6: null, ipv6Gateway: null, mtu: null, ...change };
}

export function attachRequest(change: Partial<AttachRequest> = {}): AttachRequest {
  return {
    eni: eniRequest(),
    sandbox: null,
    blockInstanceMetadata: true,
    dns: null,
    dhcp: true,
    labels: {},
    credentials: null,
    ...change,
  };
}

export function record(change: Partial<AttachmentRecord> = {}, request = attachRequest()): AttachmentRecord {
  const taskId = (change.taskId ?? 'web-1') as TaskId;
  const base = pendingRecord({
    taskId,
    hash: taskHash('task-eni', taskId),
    bootId: 'boot-1',
    instanceId: 'i-1',
    region: null,
    request,
    now: 1_000,
  });
  return { ...base, ...change };
}
