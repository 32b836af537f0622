import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StopSignal } from '../../src/api/stop-signal.js';
import { parseTaskId, type TaskId } from '../../src/attachments/task-id.js';
import { readyRecord } from '../unit/api/sample-record.js';
import { type ApiApp, makeApiApp } from './api-app.js';

const web = parseTaskId('web-1') as TaskId;
let api: ApiApp;

beforeEach(async () => {
  api = await makeApiApp();
  await api.app.listen(0, '127.0.0.1');
});
afterEach(() => api.app.close());

interface Reader {
  readonly response: IncomingMessage;
  text: string;
  /** The data of each event so far. */
  events(): { tasks?: unknown[]; taskId?: string; state?: string }[];
  ended: boolean;
}

async function open(query = '', method = 'GET'): Promise<Reader> {
  const { port } = api.app.getHttpServer().address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, method, path: `/tasks${query}`, headers: { accept: 'text/event-stream' } }, resolve)
      .on('error', reject)
      .end();
  });
  const reader: Reader = {
    response,
    text: '',
    ended: false,
    events: () => [...reader.text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data)),
  };
  response.setEncoding('utf8').on('data', (chunk: string) => (reader.text += chunk));
  response.on('end', () => (reader.ended = true)).on('error', () => (reader.ended = true));
  return reader;
}

describe('the stream of tasks', () => {
  it('begins with the listing and goes on with each change', async () => {
    api.attachments.put(readyRecord);
    const reader = await open();
    expect(reader.response.headers['content-type']).toBe('text/event-stream');
    await vi.waitFor(() => expect(reader.events()).toHaveLength(1));
    expect(reader.text).toMatch(/^retry: \d+\nevent: snapshot\ndata: /);
    expect(reader.events()[0]?.tasks).toHaveLength(1);
    api.attachments.put({ ...readyRecord, state: 'DETACHING' });
    await api.attachments.detach(web, { force: false });
    await vi.waitFor(() => expect(reader.events()).toHaveLength(3));
    expect(reader.events().slice(1)).toMatchObject([
      { taskId: 'web-1', state: 'DETACHING' },
      { taskId: 'web-1', state: 'DETACHED' },
    ]);
    reader.response.destroy();
  });

  it('tells a filtered reader of what comes into its filter and of what leaves it', async () => {
    const reader = await open('?state=READY&label=service%3Dweb');
    api.attachments.put({ ...readyRecord, state: 'PENDING' });
    api.attachments.put(readyRecord);
    api.attachments.put({ ...readyRecord, state: 'DETACHING' });
    api.attachments.put({ ...readyRecord, state: 'DETACHED' });
    api.attachments.put({ ...readyRecord, request: { ...readyRecord.request, labels: {} } });
    await vi.waitFor(() =>
      expect(reader.events().map(({ state }) => state)).toEqual([undefined, 'READY', 'DETACHING']),
    );
    reader.response.destroy();
  });

  it('ends when the service stops', async () => {
    const reader = await open();
    api.app.get(StopSignal).begin();
    await vi.waitFor(() => expect(reader.ended).toBe(true));
  });

  it('ends for a reader that does not read, and for nobody else', async () => {
    const slow = await open();
    const quick = await open();
    slow.response.pause();
    const large = { ...readyRecord, warnings: ['x'.repeat(100_000)] };
    let sent = 0;
    await vi.waitFor(
      () => {
        api.attachments.put(large);
        sent += 1;
        expect(api.log.join('')).toContain('too slow');
      },
      { interval: 1, timeout: 20_000 },
    );
    api.attachments.put({ ...readyRecord, state: 'LOST' });
    await vi.waitFor(() => expect(quick.events().at(-1)).toMatchObject({ state: 'LOST' }));
    expect(quick.events()).toHaveLength(sent + 2);
    quick.response.destroy();
    slow.response.destroy();
  });

  it('has no body for HEAD', async () => {
    const reader = await open('', 'HEAD');
    await vi.waitFor(() => expect(reader.ended).toBe(true));
    expect([reader.response.headers['content-type'], reader.text]).toEqual(['text/event-stream', '']);
  });

  it('is refused like the listing when its filter is bad', async () => {
    const reader = await open('?state=WELL');
    expect(reader.response.statusCode).toBe(400);
    expect(reader.response.headers['content-type']).toBe('application/problem+json');
    reader.response.destroy();
  });
});
