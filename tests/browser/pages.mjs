// What the tests of all pages but that of attention begin with: node NAME_test.mjs [--screenshots FOLDER] PAGE...
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import test, { after } from 'node:test';
import { desktop, launch, obstacles, open, phone, plain, settled } from './browser.mjs';

const args = process.argv.slice(2);
const folder = args.includes('--screenshots') ? args[args.indexOf('--screenshots') + 1] : null;
export const files = args.filter((arg, i) => !arg.startsWith('--') && args[i - 1] !== '--screenshots');
assert.ok(files.length, 'no page to test');

const browser = await launch();
after(() => browser.close());

export const texts = (page, selector) =>
  page.$$eval(selector, (all) => all.map((each) => each.textContent)).then((all) => all.map(plain));
export const text = async (page, selector) => plain(await page.$eval(selector, (each) => each.textContent));
export const hash = async (page) =>
  Object.fromEntries(new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)));

// Runs a test on a page that is opened for it and that must have had no faults in the end.
export function on(file, name, options, body) {
  test(`${basename(file)}: ${name}`, async () => {
    const page = await open(browser, file, options.hash, options);
    try {
      await body(page);
      assert.deepEqual(page.faults, []);
    } finally {
      await page.close();
    }
  });
}

// In both themes, on a phone and on a desktop: nothing is wider than the window, and axe-core finds no obstacle.
export function fits(file, name, state) {
  for (const theme of ['light', 'dark']) {
    on(
      file,
      `${name}, ${theme}: no obstacles, and it fits a phone`,
      { hash: state, theme, viewport: phone },
      async (page) => {
        assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]), [360, 360]);
        await picture(page, `${name}-phone-${theme}`);
        assert.deepEqual(await obstacles(page), []);
        await page.setViewport(desktop);
        await settled(page);
        assert.deepEqual(await obstacles(page), []);
        await picture(page, `${name}-desktop-${theme}`);
      },
    );
  }

  async function picture(page, view) {
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${basename(file, '.html')}-${view}.png`) });
  }
}

// Data never becomes markup: the page has the elements that its script makes, and the scripts of its file.
export function isInert(file) {
  on(file, 'what the data has is text', {}, async (page) => {
    assert.equal(await page.$$eval('main img, main script, main iframe', (all) => all.length), 0);
    assert.equal(await page.$$eval('script', (all) => all.length), 3);
  });
}
