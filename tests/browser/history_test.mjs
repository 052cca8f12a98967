// Tests of pages of `inspect history`; see pages.mjs.
import assert from 'node:assert/strict';
import { dataOf, phone, press, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, text, texts } from './pages.mjs';

for (const file of files) {
  const { runs } = dataOf(file);
  const losses = runs.flatMap((run) => run.curves.filter(({ column }) => column.endsWith('loss')));
  const steps = [...new Set(losses.flatMap(({ points }) => points.map(([step]) => step)))].sort((a, b) => a - b);
  const curves = (page) => page.$$eval('.curve:not(.raw)', (all) => all.map((each) => each.dataset.name));
  const value = (x) => String(Number(x.toPrecision(6)));
  const press1 = (page, label) =>
    page.evaluate((wanted) => {
      [...document.querySelectorAll('button')].find((each) => each.textContent === wanted).click();
    }, label);

  isInert(file);

  on(file, 'on a phone the names of runs are not cut into letters', { viewport: phone }, async (page) => {
    const widths = await page.$$eval('.runs tbody th', (all) => all.map((each) => each.clientWidth));
    assert.ok(Math.min(...widths) >= 140, String(widths));
  });

  on(file, 'there is a curve of each loss, and the table has the last and lowest', {}, async (page) => {
    assert.equal((await curves(page)).length, losses.length);
    const rows = await page.$$eval('.scrolls tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent.trim())),
    );
    runs.forEach((run, i) => {
      const [train, valid] = ['loss', 'valid_loss'].map((name) => run.curves.find(({ column }) => column === name));
      assert.equal(rows[i][0], run.name);
      assert.equal(rows[i][2], train ? value(train.last[1]) : '');
      assert.equal(rows[i][4], valid ? value(valid.lowest[1]) : '');
    });
  });

  on(file, 'the pointer shows the values of the nearest step', {}, async (page) => {
    const box = await (await page.$('.chart')).boundingBox();
    await page.mouse.move(box.x + box.width - 17, box.y + box.height / 2);
    await settled(page);
    const shown = await text(page, '.tip');
    assert.ok(shown.startsWith(`step ${steps.at(-1).toLocaleString('en')}`));
    for (const { points } of losses) {
      if (points.at(-1)[0] === steps.at(-1)) assert.ok(shown.includes(value(points.at(-1)[1])), shown);
    }
  });

  on(file, 'the keys read the values and zoom', {}, async (page) => {
    await page.$eval('.chart', (each) => each.focus());
    await press(page, 'Home', 'ArrowRight');
    assert.ok((await text(page, '.tip')).startsWith(`step ${steps[1].toLocaleString('en')}`));
    await page.waitForFunction(
      (start) => document.getElementById('announcement')?.textContent.startsWith(start),
      {},
      `Step ${steps[1].toLocaleString('en')}. `,
    );
    await press(page, 'Escape', '+');
    const { from, to } = await hash(page);
    assert.ok(Number(from) > steps[0] && Number(to) < steps.at(-1));
    await press(page, '0');
    assert.equal((await hash(page)).from, undefined);
  });

  on(file, 'dragging zooms into steps, a double click shows all', {}, async (page) => {
    const box = await (await page.$('.chart')).boundingBox();
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 3 });
    await page.mouse.up();
    await settled(page);
    const { from, to } = await hash(page);
    const range = steps.at(-1) - steps[0];
    assert.ok(Number(from) > steps[0] + 0.25 * range && Number(to) < steps.at(-1) - 0.25 * range, `${from} to ${to}`);
    await page.mouse.click(box.x + box.width / 2, y, { clickCount: 2 });
    await settled(page);
    assert.equal((await hash(page)).from, undefined);
  });

  on(file, 'the first and last step can be typed', {}, async (page) => {
    const [first] = await page.$$('.bound');
    await first.click({ clickCount: 3 });
    await page.keyboard.type(String(steps[1]));
    await press(page, 'Enter');
    assert.equal((await hash(page)).from, String(steps[1]));
    await press1(page, 'All steps');
    await settled(page);
    assert.equal((await hash(page)).from, undefined);
  });

  on(file, 'smoothing is an exponential moving average', {}, async (page) => {
    const before = await page.$$eval('.curve', (all) => all.length);
    await page.$eval('input[type="range"]', (each) => {
      each.value = 0.9;
      each.dispatchEvent(new Event('input'));
    });
    await settled(page);
    const training = losses.filter(({ column }) => column === 'loss');
    assert.equal(await page.$$eval('.curve', (all) => all.length), before + training.length);
    await page.$eval('.chart', (each) => each.focus());
    await press(page, 'End');
    let sum = 0;
    let norm = 0;
    for (const [, y] of training[0].points) [sum, norm] = [0.9 * sum + 0.1 * y, 0.9 * norm + 0.1];
    assert.ok((await text(page, '.tip')).includes(value(sum / norm)));
  });

  on(file, 'logarithmic scales keep all curves', {}, async (page) => {
    const labels = await texts(page, '.chart text');
    for (const name of ['Log values', 'Log steps']) await press1(page, name);
    await settled(page);
    assert.equal((await curves(page)).length, losses.length);
    assert.notDeepEqual(await texts(page, '.chart text'), labels);
    assert.equal(
      await page.$$eval('.curve', (all) => all.filter((each) => /NaN|Infinity/.test(each.getAttribute('d'))).length),
      0,
    );
  });

  on(file, 'other columns can be shown', {}, async (page) => {
    const other = runs[0].curves.find(({ column }) => !column.endsWith('loss')).column;
    await page.select('.controls select', other);
    await settled(page);
    assert.equal((await hash(page)).measure, other);
    assert.equal(
      (await curves(page)).length,
      runs.filter((run) => run.curves.some(({ column }) => column === other)).length,
    );
  });

  on(file, 'all values are in a table', {}, async (page) => {
    await page.click('details summary');
    await settled(page);
    const rows = await page.$$eval('.values tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    assert.equal(rows.length, Math.min(200, steps.length));
    rows.forEach(([step, ...values], i) => {
      assert.equal(step, steps[i].toLocaleString('en'));
      losses.forEach(({ points }, k) => {
        const own = points.find(([at]) => at === steps[i]);
        assert.equal(values[k], own ? value(own[1]) : '');
      });
    });
  });

  on(file, 'a name stands at the end of each line', {}, async (page) => {
    const { settings } = dataOf(file);
    const names = await page.$$eval('.end-name', (all) => all.map((each) => each.firstChild.textContent));
    assert.equal(names.length, runs.length === 1 ? losses.length : settings.length);
  });

  if (runs.length > 1) {
    on(file, 'runs that differ in the seed have one colour, their mean and its spread', {}, async (page) => {
      const { options, settings } = dataOf(file);
      const heads = await texts(page, '.runs thead th');
      assert.deepEqual(heads.slice(6), options);
      if (settings.length === runs.length) return;
      assert.equal((await page.$$('.mean')).length, 1);
      assert.equal((await page.$$('.spread')).length, 1);
      await press1(page, 'Mean of seeds');
      await settled(page);
      assert.equal((await page.$$('.mean')).length, 0);
      assert.equal((await hash(page)).means, '0');
    });

    on(file, 'the legend hides and shows runs', {}, async (page) => {
      await page.click('.run');
      await settled(page);
      const shown = await curves(page);
      assert.equal(shown.length, losses.length - runs[0].curves.filter(({ column }) => column.endsWith('loss')).length);
      assert.equal((await hash(page)).hidden, '0');
      await page.focus('.run');
      await press(page, 'Enter');
      assert.equal((await curves(page)).length, losses.length);
    });
  }

  fits(file, 'losses', '');
  fits(file, 'smooth', 'smooth=0.9&log=1');
}
