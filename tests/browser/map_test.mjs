// Tests of pages of `inspect senses` and `inspect neighbours`; see pages.mjs.
import assert from 'node:assert/strict';
import { dataOf, phone, press, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, text, texts } from './pages.mjs';

for (const file of files) {
  const { groups, layouts, points, marked_name: markedName } = dataOf(file);
  const shown = (page) => page.$$eval('.map [data-point]', (all) => all.map((each) => Number(each.dataset.point)));
  // The place of a point on the screen.
  const place = (page, i) =>
    page.$eval(`.map [data-point="${i}"]`, (each) => {
      const [x, y] = each
        .getAttribute('transform')
        .match(/-?[\d.]+/g)
        .map(Number);
      each.ownerSVGElement.scrollIntoView({ block: 'center' }); // lists may be before it
      const frame = each.ownerSVGElement.getBoundingClientRect();
      return [frame.left + x, frame.top + y];
    });

  isInert(file);

  on(file, 'all points are there, where their coordinates are', {}, async (page) => {
    assert.deepEqual(
      (await shown(page)).sort((a, b) => a - b),
      points.map((_, i) => i),
    );
    const [xs, ys] = layouts[0].coordinates;
    // The scale is that of the two points furthest apart: places on the screen are rounded.
    const apart = (a, b) => Math.hypot(xs[a] - xs[b], ys[a] - ys[b]);
    const pairs = points.flatMap((_, a) => points.map((_, b) => [a, b]));
    const [from, to] = pairs.reduce((best, pair) => (apart(...pair) > apart(...best) ? pair : best));
    const places = await Promise.all(points.map((_, i) => place(page, i)));
    const scale = Math.hypot(places[to][0] - places[from][0], places[to][1] - places[from][1]) / apart(from, to);
    places.forEach(([x, y], i) => {
      assert.ok(Math.abs(x - places[from][0] - scale * (xs[i] - xs[from])) < 1, `x of point ${i}`);
      assert.ok(Math.abs(y - places[from][1] + scale * (ys[i] - ys[from])) < 1, `y of point ${i}`);
    });
    const axes = await texts(page, '.map .axis');
    assert.deepEqual(axes, layouts[0].axes.slice(0, 2));
    assert.match(axes[0], /% of the variance/);
  });

  on(file, 'lists of neighbours come first, and lead to the points', {}, async (page) => {
    const { ranked } = dataOf(file);
    assert.equal((await page.$$('.ranked')).length, ranked.length);
    if (!ranked.length) return;
    assert.deepEqual(
      (await texts(page, '.ranked:first-child tbody td:first-child')).slice(0, 3),
      ranked[0].near.slice(0, 3).map(([label]) => label),
    );
    await page.click('.ranked button');
    await settled(page);
    assert.equal((await texts(page, '.details h2'))[0], ranked[0].near[0][0]);
  });

  on(file, 'labels do not overlap', {}, async (page) => {
    const boxes = await page.$$eval('.map text:not(.axis)', (all) =>
      all.map((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        return [left, right, top + 3, bottom - 3];
      }),
    );
    assert.ok(boxes.length > 0);
    boxes.forEach((a, i) =>
      boxes.slice(i + 1).forEach((b) => assert.ok(a[0] >= b[1] || b[0] >= a[1] || a[2] >= b[3] || b[2] >= a[3])),
    );
  });

  on(file, 'the pointer and a click show what a point is', {}, async (page) => {
    const [x, y] = await place(page, 0);
    await page.mouse.move(x, y);
    await settled(page);
    const [tipLabel] = await texts(page, '.tip > div');
    assert.ok(points.some(([label]) => label === tipLabel));
    await page.mouse.click(x, y);
    await settled(page);
    const { point } = await hash(page);
    assert.equal((await texts(page, '.details h2'))[0], points[point][0]);
    assert.ok((await text(page, '.details .group')).includes(groups[points[point][1]]));
    await page.reload();
    await settled(page);
    assert.equal((await hash(page)).point, point);
  });

  on(file, 'the arrow keys move from point to point', {}, async (page) => {
    await page.$eval('.map', (each) => each.focus());
    await press(page, 'ArrowRight');
    const first = Number((await hash(page)).point);
    const [x] = await place(page, first);
    await press(page, 'ArrowRight');
    const second = Number((await hash(page)).point);
    if (second !== first) assert.ok((await place(page, second))[0] >= x);
    await press(page, 'Escape');
    assert.equal((await hash(page)).point, undefined);
  });

  on(file, 'zoom and back', {}, async (page) => {
    const before = (await shown(page)).length;
    await page.$eval('.map', (each) => each.focus());
    await press(page, '+', '+', '+', '+', '+', '+');
    assert.ok((await shown(page)).length < before);
    await press(page, '0');
    assert.equal((await shown(page)).length, before);
  });

  on(file, 'search', {}, async (page) => {
    const wanted = points.at(-1)[0].toLowerCase();
    const count = points.filter(([label, , , detail]) =>
      [label, detail].some((each) => each.toLowerCase().includes(wanted.trim())),
    ).length;
    await press(page, '/');
    await page.keyboard.type(wanted);
    await settled(page);
    assert.match(await text(page, '.search [role="status"]'), new RegExp(`^${count} match`));
    assert.equal((await page.$$('.ring')).length, count);
    await press(page, 'Enter');
    assert.match(await text(page, '.search [role="status"]'), /^1 of/);
  });

  on(file, 'groups can be hidden', {}, async (page) => {
    await page.click('.group-button');
    await settled(page);
    assert.equal((await shown(page)).length, points.filter(([, group]) => group !== 0).length);
    await page.click('.group-button');
    await settled(page);
    assert.equal((await shown(page)).length, points.length);
  });

  if (layouts.length > 1) {
    on(file, 't-SNE is another layout', {}, async (page) => {
      await page.evaluate(() => document.querySelector('.controls input[type="radio"][value="1"]').click());
      await settled(page);
      assert.deepEqual(await texts(page, '.map .axis'), layouts[1].axes);
      assert.equal((await shown(page)).length, points.length);
    });
  }

  on(file, 'the list has all points', {}, async (page) => {
    await page.click('main > details > summary');
    await settled(page);
    const rows = await page.$$eval('.points tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    rows.forEach(([label, group], i) => {
      assert.equal(label, points[i][0]);
      assert.equal(group, groups[points[i][1]] + (points[i][2] ? `, ${markedName}` : ''));
    });
    assert.equal(rows.length, points.length);
  });

  on(file, 'a touch chooses a point', { viewport: phone }, async (page) => {
    await page.$eval('.map', (each) => each.scrollIntoView({ block: 'center' }));
    const [x, y] = await place(page, points.length - 1);
    await page.touchscreen.tap(x, y);
    await settled(page);
    assert.ok((await hash(page)).point !== undefined);
  });

  fits(file, 'map', 'point=0');
  fits(file, 'tsne', 'layout=1&labels=0');
}
