/** The pages against the running service in a lab, with a browser on the lab's host. */
import { readFileSync } from 'node:fs';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { authorizeSwagger, enterToken, execute, hasChromium, launchBrowser, openPage } from './browser.js';

const origin = 'http://127.0.0.1:51680';

describe.skipIf(!hasChromium)('a person with a browser on the host', () => {
  let lab: Lab;
  let service: ServiceProcess;
  let browser: Browser;
  let token: string;

  beforeAll(async () => {
    lab = await Lab.create({ name: 'pages', instanceType: 'm5.large' });
    service = await lab.startService({ env: { TASK_ENI_SANDBOX: 'netns' } });
    token = readFileSync(service.environment['TASK_ENI_API_TOKEN_FILE'] ?? '', 'utf8').trim();
    browser = await launchBrowser(lab.host.path);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await lab?.destroy();
  });

  it('sees a task within 2 s of its attach, and no longer 2 s after its detach', async () => {
    const eni = await lab.createEni();
    const { page, faults } = await openPage(browser, origin);
    await enterToken(page, origin, token);
    await page.waitForSelector('#live[data-live="on"]');
    expect(await service.post('seen', { eni: { macAddress: eni.mac } })).toMatchObject({ status: 201 });
    const row = await page.waitForSelector('#tasks [data-state="READY"]', { timeout: 2000 });
    expect(await row?.evaluate((element) => element.textContent)).toContain(eni.ipv4Address);
    await page.waitForFunction("document.querySelectorAll('#slots .mine').length === 1");
    expect(await service.del('seen')).toMatchObject({ status: 200 });
    await page.waitForFunction("document.querySelector('#tasks li') === null", { timeout: 2000 });
    expect(faults).toEqual([]);
  });

  it('attaches an ENI from Swagger UI', async () => {
    const eni = await lab.createEni({ mac: '02:00:00:00:00:01' });
    const { page, faults } = await openPage(browser, origin);
    await page.setViewport({ width: 1280, height: 1400 });
    await authorizeSwagger(page, origin, token);
    // The path's example and the body's first one are such that they work as they stand.
    await page.click('#operations-Networks-attachNetwork .opblock-summary');
    const { status, shown } = await execute(page, '#operations-Networks-attachNetwork');
    expect([status, shown]).toEqual(['201', expect.stringContaining('"networkMode": "ns:/run/netns/')]);
    expect(await service.get('web-1')).toMatchObject({ body: { state: 'READY', eni: { macAddress: eni.mac } } });
    expect(faults).toEqual([]);
  });
});
