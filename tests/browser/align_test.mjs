// Tests of pages of `inspect align`; see pages.mjs.
import assert from 'node:assert/strict';
import { dataOf, press, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, text, texts } from './pages.mjs';

for (const file of files) {
  const { pairs } = dataOf(file);
  const numberOf = (weight) => (weight / 1000).toFixed(2).replace(/^0/, '');
  const seen = (page) => page.$$eval('.weights td span:not(.unseen)', (all) => all.map((each) => each.textContent));

  isInert(file);

  on(file, 'the table has all weights, and shows those of .30 or more', {}, async (page) => {
    const [{ source, target, weights }] = pairs;
    assert.deepEqual(await texts(page, '.weights thead th'), source);
    assert.deepEqual(await texts(page, '.weights tbody th'), target);
    assert.equal(target.at(-1), 'end');
    assert.deepEqual(await texts(page, '.weights tbody td'), weights.map(numberOf));
    assert.deepEqual(await seen(page), weights.filter((weight) => weight >= 300).map(numberOf));
  });

  on(file, 'a target token shades the source, and a link leads back to it', {}, async (page) => {
    const shades = () => page.$$eval('span.token', (all) => all.map((each) => each.style.background));
    const before = await shades();
    await page.focus('button.token');
    await press(page, 'Enter');
    const after = await shades();
    const most = Math.max(...pairs[0].weights.slice(0, pairs[0].source.length));
    const strongest = pairs[0].weights.indexOf(most);
    assert.notEqual(after[strongest], before[strongest]);
    assert.ok((await text(page, 'main [role="status"]')).includes(`${pairs[0].source[strongest]} ${numberOf(most)}`));
    assert.equal((await hash(page)).target, '0');
    await page.reload();
    await settled(page);
    assert.deepEqual(await shades(), after);
  });

  on(file, 'keys and the list go to another pair', {}, async (page) => {
    await press(page, ']');
    assert.equal((await hash(page)).pair, '1');
    assert.deepEqual(await texts(page, '.weights tbody th'), pairs[1].target);
    await page.select('.controls select', '0');
    await settled(page);
    assert.deepEqual(await texts(page, '.weights tbody th'), pairs[0].target);
  });

  fits(file, 'align', 'target=1');
}
