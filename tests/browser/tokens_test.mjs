// Tests of pages of `inspect tokens` and `inspect surprise`; see pages.mjs.
import assert from 'node:assert/strict';
import { dataOf, phone, press, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, text, texts } from './pages.mjs';

for (const file of files) {
  const data = dataOf(file);
  const scored = data.scored !== null;
  const ids = data.texts.flatMap((each) => each.ids);
  const pieces = data.texts.flatMap((each) => each.pieces);
  const surprises = scored ? data.texts.flatMap((each) => each.surprise) : [];
  const ranks = scored ? data.texts.flatMap((each) => each.rank) : [];
  const fact = (page, name) =>
    page.$$eval(
      '.details dt',
      (all, wanted) => all.find((each) => each.textContent === wanted)?.nextSibling.textContent,
      name,
    );

  isInert(file);

  on(file, 'the text has all tokens, and their numbers below them', {}, async (page) => {
    assert.equal((await page.$$('.text .token')).length, ids.length);
    await page.select('.controls select', 'id');
    assert.deepEqual(await texts(page, '.below'), ids.map(String));
    if (!scored) return;
    await page.select('.controls select', 'surprise');
    assert.deepEqual(
      await texts(page, '.below'),
      surprises.map((x) => (x === null ? '–' : x.toFixed(1))),
    );
  });

  on(file, 'the text is the text', { hash: 'below=none' }, async (page) => {
    const shown = (await texts(page, '.text')).join('');
    const wanted = data.texts
      .map(
        (each) => each.texts.map((part, i) => each.gaps[i] + (part === '' ? each.pieces[i] : part)).join('') + each.end,
      )
      .join('');
    const bare = (all) => all.replace(/[\s↵⇥␣\p{Cf}]|U\+[0-9A-F]{4,}/gu, '');
    assert.equal(bare(shown), bare(wanted));
  });

  on(file, 'a click shows what is known of a token, and a link leads back to it', {}, async (page) => {
    const last = ids.length - 1;
    await (await page.$(`#token-${last}`)).click();
    await settled(page);
    assert.equal(await fact(page, 'id'), String(ids[last]));
    assert.equal(await fact(page, 'piece'), pieces[last]);
    assert.equal((await hash(page)).token, String(last));
    if (scored) {
      assert.equal(await fact(page, 'surprise'), `${surprises[last].toFixed(2)} bits`);
      assert.ok((await fact(page, 'rank')).startsWith(ranks[last].toLocaleString('en')));
      const { top } = data.texts.at(-1);
      assert.deepEqual(
        (await texts(page, '.alternatives tbody td:first-child bdi')).slice(0, 3),
        top
          .at(-1)
          .slice(0, 3)
          .map(([piece]) => piece),
      );
    }
    await page.reload();
    await settled(page);
    assert.equal(await fact(page, 'id'), String(ids[last]));
  });

  on(file, 'the pointer shows a token at the pointer', {}, async (page) => {
    await (await page.$('#token-0')).hover();
    await settled(page);
    assert.match(await text(page, '.tip'), new RegExp(`id ${ids[0]},`));
    await page.mouse.move(1, 1);
    await settled(page);
    assert.equal(await page.$eval('.tip', (each) => each.hidden), true);
  });

  on(file, 'the arrow keys move from token to token', {}, async (page) => {
    await page.$eval('#token-0', (each) => each.focus());
    const rightToLeft = await page.$eval('.text', (each) => getComputedStyle(each).direction === 'rtl');
    await press(page, rightToLeft ? 'ArrowLeft' : 'ArrowRight');
    assert.equal(await fact(page, 'id'), String(ids[1]));
    await press(page, 'End');
    assert.equal(await fact(page, 'id'), String(ids.at(-1)));
    await press(page, 'Home', 'ArrowDown');
    assert.ok(Number((await hash(page)).token) > 0);
    assert.equal(await page.$$eval('.token[tabindex="0"]', (all) => all.length), data.texts.length);
    assert.equal(await page.$$eval('.token[aria-selected="true"]', (all) => all.length), 1);
  });

  on(file, 'a search finds text over the bounds of tokens', {}, async (page) => {
    const joined = data.texts[0].gaps.map((gap, i) => gap + data.texts[0].texts[i]).join('');
    const longest = joined.split(/[\n\t]/).reduce((line, each) => (each.length > line.length ? each : line));
    const wanted = (longest.length > 12 ? longest.slice(2, 9) : longest).toLowerCase();
    const count = data.texts
      .map((each) =>
        each.gaps
          .map((gap, i) => gap + each.texts[i])
          .join('')
          .toLowerCase(),
      )
      .reduce((sum, all) => sum + [...all].filter((_, at) => all.startsWith(wanted, at)).length, 0);
    await press(page, '/');
    await page.keyboard.type(wanted);
    await settled(page);
    assert.match(await text(page, '.search [role="status"]'), new RegExp(`^${count} match`));
    await press(page, 'Enter');
    assert.match(await text(page, '.search [role="status"]'), /^1 of/);
    assert.ok((await page.$$('.token.current')).length > 0);
  });

  on(file, 'the table has the same numbers', {}, async (page) => {
    await press(page, 'v');
    assert.equal((await hash(page)).view, 'table');
    const rows = await page.$$eval('.scrolls tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    const cells = rows.filter((row) => row.length > 1);
    cells.forEach((row, i) => {
      assert.equal(row[1], String(ids[i]));
      assert.equal(row[2], pieces[i]);
      if (scored && surprises[i] !== null) assert.equal(row[6], surprises[i].toFixed(1));
    });
    assert.equal(cells.length, Math.min(500, ids.length));
  });

  if (scored) {
    on(file, 'the most surprising tokens are those', {}, async (page) => {
      const [first] = await texts(page, '.surprising li');
      const most = Math.max(...surprises.filter((x) => x !== null));
      assert.ok(first.includes(`${most.toFixed(2)} bits`));
      const totals = await text(page, 'main > p');
      assert.ok(totals.includes(`${data.scored.nats_per_token.toFixed(4)} nats per token`));
    });

    on(
      file,
      'it opens on the most surprising token, and a line shows the surprise along the text',
      {},
      async (page) => {
        const most = Math.max(...surprises.filter((x) => x !== null));
        assert.equal(await fact(page, 'surprise'), `${most.toFixed(2)} bits`);
        assert.ok(await page.$eval('main > details', (each) => each.open));
        const before = (await hash(page)).token;
        const box = await (await page.$('.sparkline')).boundingBox();
        await page.mouse.click(box.x + 1, box.y + 10);
        await settled(page);
        assert.equal((await hash(page)).token, '0');
        assert.notEqual(before, undefined);
      },
    );

    on(file, 'bits are summed by words and by lines', {}, async (page) => {
      const whole = surprises.reduce((sum, x) => sum + (x ?? 0), 0);
      for (const unit of ['word', 'line']) {
        await page.click(`main > details label:has([value=${unit}])`);
        await settled(page);
        const rows = (await texts(page, '.surprising li')).map((row) => Number(row.match(/([\d.]+) bits?$/)[1]));
        assert.deepEqual(
          rows,
          [...rows].sort((a, b) => b - a),
        );
        assert.ok(rows.reduce((sum, x) => sum + x, 0) <= whole + 0.1 * rows.length);
        assert.equal((await hash(page)).unit, unit);
      }
    });

    on(file, 'shades follow the surprise', { hash: 'colour=surprise' }, async (page) => {
      const shares = await page.$$eval('.text .token', (all) =>
        all.map((each) => each.style.getPropertyValue('--share')),
      );
      shares.forEach((share, i) => assert.equal(share, Math.min(1, (surprises[i] ?? 0) / 15).toFixed(3)));
    });
  }

  on(file, 'a touch chooses a token', { viewport: phone }, async (page) => {
    await page.$eval('#token-1', (each) => each.scrollIntoView({ block: 'center' }));
    await page.tap('#token-1');
    await settled(page);
    assert.equal((await hash(page)).token, '1');
  });

  fits(file, 'text', 'token=1');
  fits(file, 'ids', 'below=id');
  fits(file, 'table', 'view=table');
}
