// Tests of pages of `inspect attention` of graphs; see pages.mjs.
import assert from 'node:assert/strict';
import { dataOf, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, text, texts } from './pages.mjs';

for (const file of files) {
  const { attention, shares, sketch } = dataOf(file);
  const widths = (page, kind) =>
    page.$$eval(`.graph .${kind}`, (all) => all.map((each) => Number(each.getAttribute('stroke-width'))));
  const near = (a, b) => assert.ok(Math.abs(a - b) < 0.002, `${a} is ${b}`);

  isInert(file);

  on(file, 'the drawing has all its lines, signs and nodes', {}, async (page) => {
    const count = (selector) => page.$$eval(selector, (all) => all.length);
    assert.equal(await count('.graph > line:not([class])'), sketch.lines.length);
    assert.deepEqual(
      await texts(page, '.graph text'),
      sketch.signs.map(([, , sign]) => sign),
    );
    assert.equal(await count('.graph .node'), sketch.nodes.length);
  });

  if (attention) {
    const edges = attention.pairs.filter(([, , isEdge]) => isEdge).length;
    const { there, back, own } = attention.layers[0].heads[0];

    on(file, 'lines are as wide as mean weights, rings as weights for oneself', {}, async (page) => {
      const lines = await widths(page, 'along');
      assert.equal(lines.length, edges);
      const mean = (p) => (there[p] + back[p]) / attention.pairs[p][3];
      const all = attention.pairs.map((_, p) => mean(p));
      lines.forEach((width, p) => near(width, (12 * mean(p)) / Math.max(...all)));
      (await widths(page, 'own')).forEach((width, i) => near(width, (6 * own[i]) / Math.max(...own)));
      assert.equal((await widths(page, 'apart')).length, Math.min(attention.top, attention.pairs.length - edges));
    });

    on(file, 'a click on a node shows what it gives', {}, async (page) => {
      await page.click('.graph .node');
      await settled(page);
      assert.equal((await hash(page)).node, '0');
      assert.deepEqual([...new Set(await texts(page, 'tbody td:first-child'))].length, 1);
      const given = attention.pairs.flatMap(([a, b], p) => (a === 0 ? [there[p]] : b === 0 ? [back[p]] : []));
      near(Math.max(...given, own[0]), Number((await texts(page, 'tbody td:last-child'))[0]));
    });

    on(file, 'keys choose layers and heads', {}, async (page) => {
      await page.keyboard.press(']');
      await page.keyboard.press('k');
      await settled(page);
      const { layer, head } = await hash(page);
      assert.deepEqual([layer, head], ['1', '1']);
    });
  } else {
    on(file, 'discs are larger for larger contributions, and the table has them in order', {}, async (page) => {
      const rows = (await texts(page, 'tbody td:last-child')).map(Number);
      assert.equal(rows.length, shares.of_nodes.length);
      rows.slice(1).forEach((share, i) => assert.ok(Math.abs(share) <= Math.abs(rows[i])));
      const raises = await page.$$eval('.graph .raises', (all) => all.length);
      assert.equal(raises, shares.of_nodes.filter((share) => share > 0).length);
      assert.match(await text(page, '[role="status"]'), /raise it/);
    });
  }

  fits(file, 'graph', {});
}
