import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TaskNamespace, runIn, serverAddress, serverPort } from './bridge-world.js';
import { fetchIn } from './fetching.js';
import { RunningServer, entryFor, memoryOf } from './running-server.js';

const holdOpen = new URL('clients/hold-open.mjs', import.meta.url).pathname;

/** Opens one connection, sends each text after its milliseconds, and prints how long the connection lasted. */
const holdOne = `
const begun = performance.now();
const socket = require('node:net').connect({ host: '169.254.170.2', port: 80 });
for (const [after, text] of JSON.parse(process.argv[1])) setTimeout(() => socket.write(text), after);
let text = '';
socket.on('data', (chunk) => (text += chunk));
socket.on('error', () => {});
socket.on('close', () => { console.log(JSON.stringify({ lasted: performance.now() - begun, text })); process.exit(); });
`;

describe('the limits of the credentials server', () => {
  let running: RunningServer;
  let one: TaskNamespace;
  let two: TaskNamespace;

  beforeAll(async () => {
    running = await RunningServer.start();
    one = await running.world.addTask();
    two = await running.world.addTask();
    await running.server.put(entryFor(one, 'one'));
    await running.server.put(entryFor(two, 'two'));
  });
  afterAll(() => running.stop());

  async function hold(sent: [number, string][]): Promise<{ lasted: number; text: string }> {
    return JSON.parse(await runIn(one, process.execPath, ['-e', holdOne, JSON.stringify(sent)])) as never;
  }

  it('let a task fetch sixty times at once', async () => {
    expect((await fetchIn(one, '/v2/credentials/id-of-one', { count: 60, parallel: 60 })).codes).toEqual({ 200: 60 });
  });

  it('make a task that floods come again later, and no other', async () => {
    const flood = fetchIn(one, '/v2/credentials/id-of-one', { perSecond: 500, seconds: 4, keepAlive: true });
    const steady = fetchIn(two, '/v2/credentials/id-of-two', { perSecond: 5, seconds: 4 });
    const { codes, retryAfters } = await flood;
    expect(Object.keys(codes).toSorted()).toEqual(['200', '429']);
    expect(codes[200]).toBeGreaterThanOrEqual(160);
    expect(codes[200]).toBeLessThan(400);
    expect(retryAfters).toEqual(['1']);
    expect((await steady).codes).toEqual({ 200: 20 });
    expect(running.counted(429)).toBeGreaterThan(0);
  });

  it('let nobody be kept out by ten thousand connections half open', async () => {
    const options = JSON.stringify({ host: serverAddress, port: serverPort, count: 10_000 });
    const args = [`--net=/run/netns/${one.name}`, '--', process.execPath, holdOpen, options];
    const holder = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const others = fetchIn(two, '/v2/credentials/id-of-two', { perSecond: 20, seconds: 5 });
    await once(holder.stdout, 'data');
    const { rss } = memoryOf(running.pid());
    expect((await others).codes).toEqual({ 200: 100 });
    holder.stdin.end();
    await once(holder, 'exit');
    expect(Math.max(rss, memoryOf(running.pid()).rss)).toBeLessThan(75 * 1024);
    expect(running.reports.reduce((sum, report) => sum + report.refusedConnections, 0)).toBeGreaterThan(5000);
    // The places are free again.
    expect((await fetchIn(one, '/v2/credentials/id-of-one', { count: 60, parallel: 60 })).codes).toEqual({ 200: 60 });
  });

  it('close a connection beyond the sixty-fourth of a task', async () => {
    const options = JSON.stringify({ host: serverAddress, port: serverPort, count: 64 });
    const args = [`--net=/run/netns/${one.name}`, '--', process.execPath, holdOpen, options];
    const holder = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    expect((await fetchIn(one, '/v2/credentials/id-of-one')).codes).toEqual({ ECONNRESET: 1 });
    expect((await fetchIn(two, '/v2/credentials/id-of-two')).codes).toEqual({ 200: 1 });
    holder.stdin.end();
    await once(holder, 'exit');
    await delay(100);
    expect((await fetchIn(one, '/v2/credentials/id-of-one')).codes).toEqual({ 200: 1 });
  });

  it('give a request five seconds for its head, however it trickles', async () => {
    const letters = [...'GET /v2/credentials'].map((letter, i): [number, string] => [i * 500, letter]);
    const [silent, trickling] = await Promise.all([hold([]), hold(letters)]);
    for (const { lasted } of [silent, trickling]) {
      expect(lasted).toBeGreaterThan(4500);
      expect(lasted).toBeLessThan(8000);
    }
    expect(trickling.text).toMatch(/^HTTP\/1\.1 408 .*"code":"RequestTimeout"/s);
  });

  it('close a connection on which nothing has been asked for five seconds', async () => {
    const request = 'GET /v2/credentials/id-of-one HTTP/1.1\r\nHost: x\r\n\r\n';
    const { lasted, text } = await hold([
      [0, request],
      [2000, request],
    ]);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(lasted).toBeGreaterThan(6500);
    expect(lasted).toBeLessThan(10_000);
  });

  it('let more be asked at another rate', async () => {
    await running.stop();
    running = await RunningServer.start({ rate: { perSecond: 5, burst: 5 } });
    const task = await running.world.addTask();
    await running.server.put(entryFor(task, 'task'));
    expect((await fetchIn(task, '/v2/credentials/id-of-task', { count: 6 })).codes).toEqual({ 200: 5, 429: 1 });
  });
});
