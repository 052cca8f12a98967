// A headless Chromium, and pages in it that fail a test when they say something on the console or ask for anything.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import puppeteer from 'puppeteer-core';

const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';

export async function launch() {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []; // Chromium has no sandbox for root
  return puppeteer.launch({
    executablePath: executable,
    args: [...asRoot, '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 360, height: 740, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

// Opens FILE. The page's `faults` has what it said on the console, what it threw, and what it asked for beside itself.
export async function open(
  browser,
  file,
  hash = '',
  { viewport = desktop, theme = 'light', motion = 'no-preference' } = {},
) {
  const page = await browser.newPage();
  page.faults = [];
  page.on('console', (message) => page.faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => page.faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    page.faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.setRequestInterception(true);
  const address = pathToFileURL(file).href;
  page.on('request', (request) => {
    if (request.url().split('#')[0] === address || request.url().startsWith('data:')) return request.continue();
    page.faults.push(`request: ${request.url()}`);
    return request.abort();
  });
  await page.setViewport(viewport);
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: theme },
    { name: 'prefers-reduced-motion', value: motion },
  ]);
  await page.goto(address + (hash ? '#' + hash : ''));
  await settled(page);
  return page;
}

// Waits until the page shows what was asked for, on the screen.
export async function settled(page) {
  await page.waitForFunction(() => document.getElementById('main').getAttribute('aria-busy') === 'false');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settled(page);
  }
}

// The data of a page, as it stands in its file.
export function dataOf(file) {
  const html = readFileSync(file, 'utf8');
  const begin = html.indexOf('>', html.indexOf('id="data"')) + 1;
  return JSON.parse(html.slice(begin, html.indexOf('</script>', begin)));
}

// What axe-core finds.
export async function obstacles(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(
    ({ id, impact, help, nodes }) =>
      `${id} (${impact}): ${help}: ${nodes
        .slice(0, 3)
        .map(({ target }) => target)
        .join(' ')}`,
  );
}

// What the page shows, without marks of direction.
export function plain(text) {
  return text.replace(/[\u2066-\u2069]/g, '');
}
