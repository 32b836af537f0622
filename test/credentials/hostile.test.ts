import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Counters } from '../../src/credentials/server/counters.js';
import { formatReport } from '../../src/credentials/server/report.js';
import { BridgeWorld } from './bridge-world.js';
import { RunningServer, childrenOf, entryFor } from './running-server.js';

const honest = JSON.stringify(formatReport({ ...new Counters().take(), applied: 2, listening: true }));
const say = `const fs = require('node:fs'); const say = (text) => fs.writeSync(4, text); say(${honest});`;

/** What a server in the hands of a task might say. */
const hostile: Record<string, string> = {
  'a line without an end': `${say} for (;;) say('x'.repeat(4000));`,
  'what is not JSON': `${say} say('}{\\n'); setInterval(() => {}, 1000);`,
  'names that no report has': `${say} say('{"__proto__":{"polluted":true},"applied":2}\\n'); setInterval(() => {}, 1000);`,
  'that it did what it was never told': `${say} say(${honest}.replace('"applied":2', '"applied":99999')); setInterval(() => {}, 1000);`,
  'a thousand reports at once': `${say} for (;;) say(${honest});`,
  'much on its standard output and error': `${say} for (;;) { fs.writeSync(1, 'x'.repeat(60000)); fs.writeSync(2, 'y'.repeat(60000)); }`,
  'nothing at all': 'setInterval(() => {}, 1000);',
  'that it takes no message': `${say} setInterval(() => say(${honest}), 500);`,
};

describe('a hostile credentials server', () => {
  let running: RunningServer;
  afterEach(() => running.stop());

  it.each(Object.entries(hostile))('neither grows nor ends its parent by saying %s', async (_, script) => {
    const world = await BridgeWorld.make();
    const entry = `${world.folder}/hostile.cjs`;
    writeFileSync(entry, script);
    running = new RunningServer(world, { entry });
    const task = await world.addTask();
    global.gc?.();
    const before = process.memoryUsage().rss;
    void running.server.start();
    void running.server.put(entryFor(task, 'web')).catch(() => {});
    await delay(2000);
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024);
    expect(running.reports.every(({ auditDropped }) => auditDropped === 0)).toBe(true);
    expect('polluted' in {}).toBe(false);
    expect(running.log.join('').length).toBeLessThan(100_000);
  });

  it.each([
    'a line without an end',
    'what is not JSON',
    'names that no report has',
    'a thousand reports at once',
    'much on its standard output and error',
  ])('is ended for %s', async (name) => {
    const world = await BridgeWorld.make();
    const entry = `${world.folder}/hostile.cjs`;
    writeFileSync(entry, hostile[name] ?? '');
    running = new RunningServer(world, { entry });
    await running.server.start();
    await expect.poll(() => running.log.join('')).toMatch(/SIGKILL: it says/);
    expect(childrenOf(process.pid).length).toBeLessThan(10);
  });

  it('is ended when it takes no message, or does not report', { timeout: 60_000 }, async () => {
    const world = await BridgeWorld.make();
    const task = await world.addTask();
    const entry = `${world.folder}/hostile.cjs`;
    writeFileSync(entry, hostile['that it takes no message'] ?? '');
    running = new RunningServer(world, { entry });
    await running.server.start();
    await running.server.put(entryFor(task, 'web')).catch(() => {});
    await expect.poll(() => running.log.join(''), { timeout: 15_000 }).toContain('it does not take what it is told');
    writeFileSync(entry, hostile['nothing at all'] ?? '');
    await expect.poll(() => running.log.join(''), { timeout: 30_000 }).toContain('it does not report');
  });
});
