import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Listeners } from '../../src/api/listeners.js';
import { readyRecord } from '../unit/api/sample-record.js';
import { type ApiApp, makeApiApp } from './api-app.js';
import { authorizeSwagger, enterToken, execute, hasChromium, launchBrowser, openPage } from './browser.js';
import { freePort } from './free-port.js';

/** Markup that would run if it were ever taken for markup. */
const markup = '<img src=x onerror="document.title=`broken`">';
const task = { ...readyRecord, request: { ...readyRecord.request, labels: { note: markup } }, warnings: [markup] };

describe.skipIf(!hasChromium)('in a browser', () => {
  let folder: string;
  let origin: string;
  let api: ApiApp;
  let browser: Browser;
  let token: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'task-eni-pages-'));
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    api = await makeApiApp({
      apiSocket: null,
      apiAddress: { host: '127.0.0.1', port },
      apiTokenFile: join(folder, 'token'),
    });
    await api.app.get(Listeners).start(api.app.getHttpAdapter().getInstance());
    token = readFileSync(join(folder, 'token'), 'utf8').trim();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await api.app.get(Listeners).stop();
    await api.app.close();
    rmSync(folder, { recursive: true });
  });

  it('the page shows a task as it comes and goes, and its words as words only', async () => {
    const { page, faults } = await openPage(browser, origin);
    await page.goto(origin);
    await page.waitForSelector('#ask:not([hidden])');
    expect(await page.$eval('#view', (view) => view.hasAttribute('hidden'))).toBe(true);
    await page.type('#token', token);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#live[data-live="on"]');
    api.attachments.put(task);
    await page.waitForSelector('#tasks [data-state="READY"]', { timeout: 2000 });
    const words = await page.$eval('#tasks li', (row) => row.textContent);
    for (const shown of ['web-1', '172.31.13.14/20', '169.254.172.2', 've1f2e3d4c5b', markup])
      expect(words).toContain(shown);
    expect(await page.$$eval('img', (images) => images.length)).toBe(0);
    await page.waitForFunction("document.querySelectorAll('#slots .free').length === 2");
    await api.attachments.detach(task.taskId, { force: false });
    await page.waitForFunction("document.querySelector('#tasks li') === null", { timeout: 2000 });
    expect(await page.$eval('#attaches', (rows) => rows.textContent)).toContain('web-1');
    expect([await page.title(), faults]).toEqual(['task-eni', []]);
  });

  it('the page asks again when the token is wrong', async () => {
    const { page } = await openPage(browser, origin);
    await enterToken(page, origin, 'not-the-token-at-all');
    await page.waitForFunction("document.querySelector('#refused')?.textContent?.includes('refuses')");
  });

  it('the page fits a phone', async () => {
    api.attachments.put(task);
    const { page } = await openPage(browser, origin);
    await page.setViewport({ width: 360, height: 740 });
    await enterToken(page, origin, token);
    await page.waitForSelector('#tasks li');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  it('Swagger UI loads from the service alone, and runs a call with the token', async () => {
    const { page, faults } = await openPage(browser, origin);
    await authorizeSwagger(page, origin, token);
    await page.click('#operations-Host-readHost .opblock-summary');
    const { status, shown } = await execute(page, '#operations-Host-readHost');
    expect([status, shown]).toEqual(['200', expect.stringContaining('m5.large')]);
    expect(faults).toEqual([]);
  });
});
