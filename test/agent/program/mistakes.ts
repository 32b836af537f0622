/** What an agent's author may get wrong, each refused by the compiler: one that is let through is an error here. */
import createClient from 'openapi-fetch';
import type { components, paths } from './task-eni.js';

type Schemas = components['schemas'];

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:51680' });

// @ts-expect-error an ENI is named by id, by hardware address or by both
export const nameless: Schemas['EniRequest'] = { mtu: 9001 };

export const wrongUnit: Schemas['EniRequest'] = {
  macAddress: '02:00:00:00:00:01',
  // @ts-expect-error a number of bytes
  mtu: '9001',
};

export const unknownField: Schemas['EniRequest'] = {
  id: 'eni-0123456789abcdef0',
  // @ts-expect-error it is called ipv4Gateway
  gateway: '172.31.0.1',
};

// @ts-expect-error an attach without an ENI
export const withoutEni: Schemas['AttachRequest'] = { labels: { service: 'web' } };

export const unknownSource: Schemas['AttachRequest'] = {
  eni: { id: 'eni-0123456789abcdef0' },
  // @ts-expect-error no such source of credentials
  credentials: { source: 'assumed', roleArn: 'arn:aws:iam::123456789012:role/app' },
};

// @ts-expect-error pushed credentials without their secret
export const halfPushed: Schemas['PushedCredentials'] = { source: 'pushed', roleArn: 'arn:aws:iam::1:role/app' };

// @ts-expect-error no such path
await client.GET('/task/{taskId}/network', { params: { path: { taskId: 'web-1' } } });

const { data, error } = await client.GET('/tasks/{taskId}/network', { params: { path: { taskId: 'web-1' } } });
// @ts-expect-error no such state
export const isReady = data?.state === 'ready';
// @ts-expect-error no such code
export const isGone = error?.code === 'gone';
// @ts-expect-error null until the sandbox is there
export const networkMode: string | undefined = data?.networkMode;
