import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

/** Where Debian's package puts it. */
const chromium = '/usr/bin/chromium';
export const hasChromium = existsSync(chromium);

/** A browser; with the path of a network namespace, one that lives there. */
export function launchBrowser(namespace?: string): Promise<Browser> {
  const flags = ['--no-sandbox', '--disable-gpu'];
  if (namespace === undefined) return puppeteer.launch({ executablePath: chromium, args: flags });
  const args = [`--net=${namespace}`, '--', chromium, ...puppeteer.defaultArgs({ headless: true }), ...flags];
  // A pipe: a port of the namespace could not be reached from here.
  return puppeteer.launch({ executablePath: '/usr/bin/nsenter', ignoreDefaultArgs: true, args, pipe: true });
}

/** A page whose faults are collected: broken policies, uncaught errors, requests to elsewhere. */
export async function openPage(browser: Browser, origin: string): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) faults.push(request.url());
  });
  return { page, faults };
}

/** Gives the page at / its token. */
export async function enterToken(page: Page, origin: string, token: string): Promise<void> {
  await page.goto(origin);
  await page.waitForSelector('#ask:not([hidden])');
  await page.type('#token', token);
  await page.keyboard.press('Enter');
}

/** Opens Swagger UI and gives it the token by "Authorize". */
export async function authorizeSwagger(page: Page, origin: string, token: string): Promise<void> {
  await page.goto(`${origin}/docs`);
  await page.waitForSelector('.opblock');
  await page.click('.btn.authorize');
  await page.waitForSelector('.auth-container input');
  await page.type('.auth-container input', token);
  await page.click('.auth-btn-wrapper .authorize');
  await page.click('.btn-done');
}

/** Runs one operation of Swagger UI as it stands and gives the status and all that is shown of the answer. */
export async function execute(page: Page, operation: string): Promise<{ status: string; shown: string }> {
  await page.waitForSelector(`${operation} .execute`);
  await page.click(`${operation} .execute`);
  const status = `${operation} .live-responses-table tbody .response-col_status`;
  await page.waitForSelector(status);
  return {
    status: (await page.$eval(status, (cell) => cell.textContent)) ?? '',
    shown: (await page.$eval(`${operation} .live-responses-table`, (table) => table.textContent)) ?? '',
  };
}
