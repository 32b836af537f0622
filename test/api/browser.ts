import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

/** Where Debian's package puts it. */
export const chromium = '/usr/bin/chromium';
export const hasChromium = existsSync(chromium);

export function launchBrowser(): Promise<Browser> {
  return puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
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
