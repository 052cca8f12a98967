// Tests of pages of `finetune --ensemble auto:report=`; see pages.mjs. The last example is wrong.
import assert from 'node:assert/strict';
import { press } from './browser.mjs';
import { files, fits, on, text, texts } from './pages.mjs';

for (const file of files) {
  const shown = (page) => page.$$eval('section.texts', (all) => all.filter((each) => each.offsetHeight > 0).length);
  const lines = (page) => page.$$eval('section.texts:target li', (all) => all.length);

  on(file, 'what the data has is text, and there is no script', {}, async (page) => {
    assert.equal(await page.$$eval('script, i, b, img', (all) => all.length), 0);
    assert.ok((await texts(page, 'main th')).includes('<b>bad'));
  });

  on(file, 'a click on a number of the confusion matrix shows its texts', {}, async (page) => {
    assert.equal(await shown(page), 0);
    const links = await page.$$('.confusion a');
    const counts = (await texts(page, '.confusion a')).map(Number);
    for (const [i, link] of links.entries()) {
      await link.click();
      assert.equal(await shown(page), 1);
      assert.equal(await lines(page), Math.min(100, counts[i]));
    }
    const all = (await texts(page, '.confusion td > *')).map(Number).reduce((sum, x) => sum + x, 0);
    assert.ok((await text(page, 'main li')).includes(`${all} examples`));
  });

  on(file, 'the keyboard does the same, and leads back', {}, async (page) => {
    for (let i = 0; i < 20; ++i) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement.matches('.confusion a'))) break;
    }
    const count = Number(await page.evaluate(() => document.activeElement.textContent));
    await press(page, 'Enter');
    assert.equal(await shown(page), 1);
    assert.equal(await lines(page), Math.min(100, count));
    await press(page, 'Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Back to the table');
    await press(page, 'Enter');
    assert.equal(await shown(page), 0);
  });

  on(file, 'the curve has a point for each row of its table, and ends with the chosen model', {}, async (page) => {
    const rows = await page.$$eval('[aria-label="learning curve"] tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    const sizes = rows.map(([size]) => Number(size));
    assert.ok(sizes.length >= 3);
    assert.deepEqual(
      sizes,
      [...sizes].sort((a, b) => a - b),
    );
    assert.equal((await page.$$('circle')).length, rows.length);
    assert.equal(rows.at(-1)[1], await text(page, '.chosen td'));
  });

  on(file, 'the most confident error is the wrong example', {}, async (page) => {
    assert.match(await text(page, '[aria-label="most confident errors"] tbody tr'), /a dreadful <i>film number 4$/);
  });

  fits(file, 'decision', '');
  fits(file, 'texts', 'c1-1');
}
