// Tests of pages of `inspect attention` with two models or two texts: node beside_test.mjs [--screenshots FOLDER] PAGE...
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { inflateSync } from 'node:zlib';
import { dataOf, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, texts } from './pages.mjs';

const meanText = (mean) => (mean < 0.0005 ? '0' : mean.toFixed(mean < 0.0995 ? 3 : 2).replace(/^0/, ''));

for (const file of files) {
  const data = dataOf(file);
  const sides = [data, data.beside];
  const tokens = sides.map(({ texts: [text] }) => text.tokens.length);

  // What a query of a side gives to each key, as the mean of heads.
  function expected(side, layer, heads, query) {
    const [group] = sides[side].attention;
    const bytes = inflateSync(Buffer.from(group.layers[layer].weights, 'base64'));
    const count = tokens[side];
    return Array.from({ length: count }, (_, key) => {
      const sum = heads.reduce((all, head) => all + bytes[(head * count + query) * count + key], 0);
      return key > query ? '' : meanText(sum / 255 / heads.length);
    });
  }
  const values = (page, side) => texts(page, `.pane:nth-child(${side + 1}) .column.key .value`);

  isInert(file);

  on(file, 'both sides beside each other on a desktop, below each other on 400 pixels', {}, async (page) => {
    const boxes = () =>
      page.$$eval('.pane', (all) =>
        all.map((each) => each.getBoundingClientRect()).map((box) => ({ ...box.toJSON() })),
      );
    await page.setViewport({ width: 1280, height: 900 });
    await settled(page);
    const [left, right] = await boxes();
    assert.equal(left.top, right.top);
    assert.ok(right.left >= left.right && right.right <= 1280);
    const stages = await page.$$eval('.pane .stage', (all) => all.map((each) => each.getBoundingClientRect().top));
    assert.equal(stages[0], stages[1], 'the pictures are level');
    await page.setViewport({ width: 400, height: 800 });
    await settled(page);
    const [above, below] = await boxes();
    assert.ok(below.top >= above.bottom && above.left === below.left);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
  });

  on(file, 'sides have their names', {}, async (page) => {
    assert.deepEqual(
      await texts(page, '.pane-name'),
      sides.map(({ side }) => side),
    );
  });

  on(file, 'layer, heads, query and bound are chosen once for both', { hash: 'heads=1&query=3' }, async (page) => {
    const check = async (layer, heads) => {
      for (const side of [0, 1]) assert.deepEqual(await values(page, side), expected(side, layer, heads, 2));
    };
    await check(0, [0]);
    await page.click('[aria-label="Next layer"]');
    await settled(page);
    await check(1, [0]);
    await (await page.$$('.pane:first-child .tile'))[2].click();
    await settled(page);
    await check(1, [0, 2]);
    await page.$eval('.pane:first-child .least input', (input) => {
      input.value = 7;
      input.dispatchEvent(new Event('input'));
    });
    await settled(page);
    for (const line of await texts(page, '.pane .stage + p')) assert.match(line, /of at least 7 %/);
    await page.click('.pane:first-child .hides input[value=self]');
    await settled(page);
    assert.ok(!(await hash(page)).hide.split(',').includes('self'));
    assert.deepEqual(
      await page.$$eval('.pane:last-child .tile-row, .pane:last-child .once, .pane:last-child .hides', (all) =>
        all.map((each) => getComputedStyle(each).visibility),
      ),
      ['hidden', 'hidden', 'hidden'],
    );
  });

  const longest = Math.max(...tokens);
  on(
    file,
    'a query that only one side has is chosen there alone',
    { hash: `heads=1&query=${longest}` },
    async (page) => {
      for (const side of [0, 1]) {
        const all = tokens[side] === longest ? expected(side, 0, [0], longest - 1) : Array(tokens[side]).fill('');
        assert.deepEqual(await values(page, side), all);
      }
    },
  );

  for (const view of ['heads', 'grid', 'matrix', 'neurons', 'rollout'])
    fits(file, `${basename(file, '.html')}-${view}`, `view=${view}&query=${longest}&key=1`);
}
