// Tests of pages of `inspect attention`: node attention_test.mjs [--screenshots FOLDER] [--measure] PAGE...
//
// Every test drives the page as people do, by clicks, the pointer and keys, and compares what it shows with the data
// in its file. --screenshots writes pictures for people to look at. --measure only prints how long each page takes to
// open.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import test, { after } from 'node:test';
import { inflateSync } from 'node:zlib';
import { dataOf, desktop, launch, obstacles, open, phone, plain, press, settled } from './browser.mjs';

const args = process.argv.slice(2);
const measure = args.includes('--measure');
const folder = args.includes('--screenshots') ? args[args.indexOf('--screenshots') + 1] : null;
const files = args.filter((arg, i) => !arg.startsWith('--') && args[i - 1] !== '--screenshots');
const views = ['heads', 'grid', 'matrix', 'neurons', 'rollout'];
assert.ok(files.length, 'no page to test');

const browser = await launch();
after(() => browser.close());

// A page's first group, unpacked.
function unpacked(file) {
  const data = dataOf(file);
  const [group] = data.attention;
  const [query, key] = [data.texts[group.query].tokens, data.texts[group.key].tokens];
  const bytes = (text) => new Uint8Array(inflateSync(Buffer.from(text, 'base64')));
  const layers = group.layers.map((layer) => {
    const [weights, broken] = [bytes(layer.weights), layer.not_finite && bytes(layer.not_finite)];
    const index = (head, i, j) => (head * query.length + i) * key.length + j;
    const at = (head, i, j) => weights[index(head, i, j)];
    return { ...layer, at, isBroken: (head, i, j) => Boolean(broken?.[index(head, i, j)]) };
  });
  const rollout = group.rollout && bytes(group.rollout);
  return {
    data,
    group,
    query,
    key,
    layers,
    size: query.length * key.length,
    rollout: rollout && ((layer, i, j) => rollout[(layer * query.length + i) * key.length + j]),
    allows: (i, j) => !group.causal || j <= i,
  };
}

const weightText = (byte) => (byte === 0 ? '< 0.002' : (byte / 255).toFixed(3));
const meanText = (mean) => (mean < 0.0005 ? '0' : mean.toFixed(mean < 0.0995 ? 3 : 2).replace(/^0/, ''));
const texts = (page, selector) => page.$$eval(selector, (all) => all.map((each) => each.textContent));
const text = (page, selector) => page.$eval(selector, (each) => each.textContent);
const hash = async (page) =>
  Object.fromEntries(new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)));

// Runs a test on a page that is opened for it and that must have had no faults in the end.
function on(file, name, options, body) {
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

for (const file of files) {
  if (measure) measureOpening(file);
  else if (basename(file) === 'damaged.html') testDamaged(file);
  else if (basename(file) === 'broken.html') testBroken(file);
  else if (basename(file) === 'long.html') testLong(file);
  else if (basename(file) === 'two.html') testTwo(file);
  else testPage(file);
}

// Even shades of weights that are 1/80 in the mean are those of 0.
// Two texts, the second from token 4 on, with lengths of values.
function testTwo(file) {
  const { data, layers } = unpacked(file);
  const lengths = new Uint8Array(inflateSync(Buffer.from(data.attention[0].layers[0].values, 'base64')));
  const rows = (page) =>
    page.$$eval('.links tbody tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));

  on(file, 'links between the two texts are chosen by their way', { hash: 'hide=none' }, async (page) => {
    const isOf = {
      forward: (i, j) => i < 4 && j >= 4,
      backward: (i, j) => i >= 4 && j < 4,
      within: (i, j) => i < 4 === j < 4,
    };
    for (const [way, fits] of Object.entries(isOf)) {
      await page.select('.hides select', way);
      await settled(page);
      assert.equal((await hash(page)).way, way);
      const links = await rows(page);
      assert.ok(links.length);
      for (const [, from, to] of links) assert.ok(fits(parseInt(from) - 1, parseInt(to) - 1), `${from} to ${to}`);
    }
  });

  on(file, 'weights are multiplied by the lengths of values', { hash: 'heads=1&hide=none&query=2' }, async (page) => {
    await page.click('.toolbar label:has(input[value=values])');
    await settled(page);
    assert.equal((await hash(page)).by, 'values');
    const products = Array.from({ length: 7 }, (_, j) => layers[0].at(0, 1, j) * lengths[j]);
    const sum = products.reduce((all, each) => all + each, 0);
    const expected = products
      .map((product) => Math.round((255 * product) / sum))
      .filter((byte) => byte > 0)
      .sort((a, b) => b - a);
    assert.deepEqual(
      (await rows(page)).map(([, , , weight]) => weight),
      expected.map(weightText),
    );
    assert.deepEqual(await obstacles(page), []);
    await press(page, '4');
    assert.equal(await page.$eval('.toolbar label:has(input[value=values])', (each) => each.offsetHeight), 0);
  });
}

function testLong(file) {
  on(file, 'grid: shades of small weights', { hash: 'view=grid' }, async (page) => {
    const chosen = () => page.$eval('input[value=root]', (each) => each.checked);
    assert.equal(await chosen(), true);
    assert.equal((await hash(page)).shading, undefined);
    await page.$eval('input[value=even]', (each) => each.click());
    await settled(page);
    assert.equal(await chosen(), false);
    assert.equal((await hash(page)).shading, 'even');
  });
}

// The vector of the second query has an element that is not finite.
function testBroken(file) {
  const note = (page) => text(page, '#neurons-note');
  on(file, 'neurons: what is not finite is said to be so', { hash: 'view=neurons&query=2' }, async (page) => {
    assert.match(await note(page), /^Some of these vectors are not finite/);
    assert.equal(await text(page, '[data-step=softmax] strong'), 'not finite');
    assert.match(await text(page, '.row-table tbody tr'), /not finite/);
    const box = await (await page.$('[data-strip=query]')).boundingBox();
    await page.mouse.move(box.x + 1, box.y + 5);
    assert.match(await text(page, '.tip'), /q not finite × k/);
    await page.select('select[aria-label=query]', '2');
    await settled(page);
    assert.match(await note(page), /^Vectors are rounded to 8 bits/);
  });
}

function testDamaged(file) {
  on(file, 'says what it cannot show, and shows the rest', {}, async (page) => {
    assert.equal((await page.$$('.stage')).length, 1);
    await press(page, ']');
    assert.match(await text(page, '[role=alert]'), /cannot show layer 2: .*Write it again with inspect attention/);
    await press(page, '[');
    assert.equal((await page.$$('.stage')).length, 1);
  });
}

function measureOpening(file) {
  test(`${basename(file)} opens`, async () => {
    for (const view of ['heads', 'grid', 'matrix']) {
      const page = await open(browser, file, `view=${view}`);
      const shown = await page.evaluate(() => performance.now());
      let line = `${basename(file)}: ${view} after ${(shown / 1000).toFixed(2)} s`;
      if (view === 'grid') {
        await page.waitForSelector('[data-complete]', { timeout: 0 });
        line += `, all thumbnails after ${((await page.evaluate(() => performance.now())) / 1000).toFixed(2)} s`;
      }
      console.log(line);
      await page.close();
    }
  });
}

function testPage(file) {
  const { data, group, query, key, layers, rollout, allows } = unpacked(file);
  const few = query.length <= 96 && key.length <= 96;
  const middle = Math.floor(query.length / 2);
  const firstHead = layers[0];
  const mean = (heads, i, j) => heads.reduce((sum, head) => sum + firstHead.at(head, i, j), 0) / 255 / heads.length;
  const shownLabel = (token) =>
    token.label === '' ? 'empty' : /^\p{M}/u.test(token.label) ? `◌${token.label}` : token.label;

  on(file, 'tokens are text, whatever they are', { hash: 'heads=1' }, async (page) => {
    const label = (token) => (/[^\s\p{Cf}\p{Cc}]/u.test(token.label) ? token.label : null);
    for (const [side, tokens] of [
      ['query', query],
      ['key', key],
    ]) {
      const shown = await texts(page, `.column.${side} .label`);
      assert.equal(shown.length, tokens.length);
      tokens.forEach((token, i) => {
        const onCircle = /^\p{M}/u.test(token.label) ? '◌' : ''; // alone, a mark is drawn over a circle
        if (label(token) !== null) assert.equal(shown[i], onCircle + token.label);
        else assert.match(shown[i], /^(empty|U\+)/);
      });
    }
    assert.equal(await page.$$eval('main img, main script, main iframe', (all) => all.length), 0);
    assert.equal(await page.$$eval('script', (all) => all.length), 3);
    assert.equal(
      await page.$$eval('.token .label', (all) => all.filter((each) => !each.querySelector('bdi, .empty')).length),
      0,
    );
  });

  on(file, 'heads: the numbers of a token are its weights', { hash: 'heads=1' }, async (page) => {
    const expected = key.map((_, j) =>
      allows(middle, j) ? (firstHead.isBroken(0, middle, j) ? 'not finite' : meanText(mean([0], middle, j))) : '',
    );
    const rows = await page.$$('.column.query .token');
    await rows[middle].scrollIntoView();
    await rows[middle].hover();
    await settled(page);
    assert.deepEqual(await texts(page, '.column.key .value'), expected, 'under the pointer');
    assert.match(await text(page, '.side'), new RegExp(`position ${middle + 1} · id ${query[middle].id}`));
    await page.mouse.move(1, 1);
    await settled(page);
    assert.deepEqual(
      await texts(page, '.column.key .value'),
      key.map(() => ''),
      'without the pointer',
    );
    await rows[middle].click();
    await page.mouse.move(1, 1);
    await settled(page);
    assert.deepEqual(await texts(page, '.column.key .value'), expected, 'after a click');
    assert.equal((await hash(page)).query, String(middle + 1));
    await press(page, 'Escape');
    assert.equal((await hash(page)).query, undefined);
  });

  on(file, 'heads: a token of the keys shows who attends to it', { hash: 'heads=1' }, async (page) => {
    const row = (await page.$$('.column.key .token'))[0];
    await row.scrollIntoView();
    await row.hover();
    await settled(page);
    assert.deepEqual(
      await texts(page, '.column.query .value'),
      query.map((_, i) => (firstHead.isBroken(0, i, 0) ? 'not finite' : meanText(mean([0], i, 0)))),
    );
  });

  on(
    file,
    'heads: tiles switch heads, and numbers are means of those that are shown',
    { hash: `heads=1&query=${middle + 1}` },
    async (page) => {
      const { heads } = firstHead;
      assert.equal((await page.$$('.tile')).length, heads);
      const all = Array.from({ length: heads }, (_, head) => head);
      await page.click('[aria-label="All heads"]');
      await settled(page);
      assert.deepEqual(
        await page.$$eval('.tile', (tiles) => tiles.map((tile) => tile.getAttribute('aria-pressed'))),
        all.map(() => 'true'),
      );
      assert.deepEqual(
        await texts(page, '.column.key .value'),
        key.map((_, j) =>
          !allows(middle, j)
            ? ''
            : all.some((head) => firstHead.isBroken(head, middle, j))
              ? 'not finite'
              : meanText(mean(all, middle, j)),
        ),
      );
      await page.click('[aria-label="None of the heads"]');
      await settled(page);
      assert.match(await text(page, '#lines-summary'), /No head is chosen/);
      await (await page.$$('.tile'))[heads - 1].click();
      await settled(page);
      assert.equal((await hash(page)).heads, heads === 1 ? 'all' : String(heads));
      assert.deepEqual(
        await texts(page, '.column.key .value'),
        key.map((_, j) =>
          !allows(middle, j)
            ? ''
            : firstHead.isBroken(heads - 1, middle, j)
              ? 'not finite'
              : meanText(mean([heads - 1], middle, j)),
        ),
      );
    },
  );

  on(
    file,
    'heads: as many lines as weights of at least the bound',
    { hash: 'heads=1&least=20&hide=none' },
    async (page) => {
      let count = 0;
      query.forEach((_, i) =>
        key.forEach((__, j) => {
          if (firstHead.at(0, i, j) >= 51) ++count;
        }),
      );
      assert.ok((await text(page, '#lines-summary')).startsWith(`${count.toLocaleString('en')} line`));
      if (count) assert.ok(await inked(page, '.stage canvas'), 'nothing is drawn');
    },
  );

  on(file, 'the table has the strongest links in order', { hash: 'heads=1&hide=none' }, async (page) => {
    const links = [];
    query.forEach((_, i) =>
      key.forEach((__, j) => {
        if (firstHead.at(0, i, j) && !(group.causal && i === 0 && query.length > 1))
          links.push([i, j, firstHead.at(0, i, j)]);
      }),
    );
    links.sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
    const rows = await page.$$eval('.links tbody tr', (all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    assert.deepEqual(
      rows.map(([, from, to, weight]) => [parseInt(from), parseInt(to), weight]),
      links.slice(0, 12).map(([i, j, weight]) => [i + 1, j + 1, weightText(weight)]),
    );
  });

  // What is left out where nothing else is chosen.
  const isHidden = (i, j) => {
    const isWord = (token) => !token.kind && !/^[▁Ġ ]*[\p{P}\p{S}]+$/u.test(shownLabel(token));
    return (group.query === group.key && i === j) || !isWord(query[i]) || !isWord(key[j]);
  };

  on(file, 'it opens on the word that attends most to another one, with lines from 25 %', {}, async (page) => {
    const strongest = { weight: 0, query: null };
    for (let i = group.causal && query.length > 1 ? 1 : 0; i < query.length; ++i) {
      for (let j = 0; j < key.length; ++j) {
        for (let head = 0; head < firstHead.heads; ++head) {
          if (isHidden(i, j) || firstHead.isBroken(head, i, j)) continue;
          if (firstHead.at(head, i, j) > strongest.weight)
            Object.assign(strongest, { weight: firstHead.at(head, i, j), query: i });
        }
      }
    }
    const lit = await page.$$eval('.column.query .token', (all) =>
      all.flatMap((row, i) => (row.classList.contains('lit') ? [i] : [])),
    );
    if (strongest.query === null) assert.deepEqual(lit, []);
    else
      assert.ok(
        Array.from({ length: firstHead.heads }, (_, head) => head).some((head) =>
          key.some((_, j) => !isHidden(lit[0], j) && firstHead.at(head, lit[0], j) === strongest.weight),
        ),
      );
    assert.match(await text(page, '#lines-summary'), /of at least 25 %/);
  });

  on(file, 'links leave out a token itself, and switches bring it back', { hash: 'heads=1' }, async (page) => {
    const pairs = async () =>
      page.$$eval('.links tbody tr', (all) =>
        all.map((row) => [...row.children].slice(1, 3).map((cell) => parseInt(cell.textContent) - 1)),
      );
    for (const [i, j] of await pairs()) assert.ok(!isHidden(i, j), `${i} to ${j}`);
    const own = await page.$('.hides input[value=self]');
    if (!own) return;
    await own.click();
    await settled(page);
    assert.ok(!(await hash(page)).hide.split(',').includes('self'));
  });

  on(file, 'grid: a thumbnail for each head, which leads to it', { hash: 'view=grid' }, async (page) => {
    await page.waitForSelector('[data-complete]');
    assert.equal(
      (await page.$$('.thumbnail[data-drawn]')).length,
      layers.reduce((sum, layer) => sum + layer.heads, 0),
    );
    const last = layers.length - 1;
    const cell = `.thumbnail[data-layer="${last}"][data-head="${layers[last].heads - 1}"]`;
    if (few) assert.deepEqual(await wrongPixels(page, cell, layers[last], layers[last].heads - 1), []);
    assert.match(
      await page.$eval(cell, (each) => each.getAttribute('aria-label')),
      /entropy [\d.]+ of at most [\d.]+ bits/,
    );
    await page.$eval(cell, (each) => each.scrollIntoView({ block: 'center', inline: 'center' }));
    await page.click(cell);
    await settled(page);
    const shown = await hash(page);
    assert.deepEqual([shown.view, shown.layer, shown.heads], ['heads', String(last + 1), String(layers[last].heads)]);
  });

  // Cells of a thumbnail whose colour is not that of their weight.
  async function wrongPixels(page, cell, layer, head) {
    const { pixels, ground, ink } = await page.evaluate((selector) => {
      const canvas = document.querySelector(selector + ' canvas');
      return {
        pixels: [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data],
        ground: rgb('--surface'),
        ink: rgb('--shade'),
      };
    }, cell);
    const wrong = [];
    query.forEach((_, i) =>
      key.forEach((__, j) => {
        if (layer.isBroken(head, i, j)) return;
        const expected = ground.map((start, c) => Math.round(start + ((ink[c] - start) * layer.at(head, i, j)) / 255));
        const at = 4 * (i * key.length + j);
        if (expected.some((value, c) => Math.abs(value - pixels[at + c]) > 1))
          wrong.push([i, j, pixels.slice(at, at + 3), expected]);
      }),
    );
    return wrong;
  }

  on(file, 'matrix: the pointer and the arrow keys read the weights', { hash: 'view=matrix' }, async (page) => {
    assert.ok(await inked(page, '.matrix canvas'), 'nothing is drawn');
    const read = await readCells(
      page,
      '.matrix',
      (i, j) => firstHead.at(0, i, j),
      (i, j) => firstHead.isBroken(0, i, j),
    );
    assert.ok(read.size >= Math.min(4, query.length), `only ${read.size} cells were read`);
    await page.focus('.matrix');
    await press(page, 'ArrowDown', ...(query.length > 1 ? ['ArrowDown'] : []));
    const i = Math.min(1, query.length - 1);
    const shown = await hash(page);
    assert.deepEqual([shown.query, shown.key], [String(i + 1), '1']);
    assert.ok(
      (await text(page, '.readout')).includes(
        firstHead.isBroken(0, i, 0)
          ? 'not finite'
          : `${weightText(firstHead.at(0, i, 0))} (${firstHead.at(0, i, 0)}/255)`,
      ),
    );
    await press(page, 'Enter');
    assert.equal((await hash(page)).view, 'neurons');
  });

  on(file, 'matrix: what it says follows the layer, the head and the keys', { hash: 'view=matrix' }, async (page) => {
    const { x, y, i, j } = await pointerOnCell(page);
    const says = (layer, head) =>
      layers[layer].isBroken(head, i, j)
        ? 'not finite'
        : `${weightText(layers[layer].at(head, i, j))} (${layers[layer].at(head, i, j)}/255)`;
    const tip = () => page.$eval('.tip', (each) => (each.hidden ? null : each.firstChild.textContent));
    assert.equal(await tip(), says(0, 0));
    await press(page, ']');
    assert.equal(await tip(), says(1, 0));
    await press(page, '.');
    assert.equal(await tip(), says(1, 1));
    await page.mouse.click(x, y);
    await press(page, 'ArrowDown');
    assert.equal(await tip(), null);
    const drawn = () => page.$eval('.matrix canvas', (canvas) => canvas.toDataURL());
    const withPointer = await drawn();
    await page.mouse.move(1, 1);
    await settled(page);
    assert.equal(withPointer, await drawn(), 'a cell that the keys have left is outlined');
  });

  // Moves the pointer to some cell that is not masked; returns where that is and which cell.
  async function pointerOnCell(page) {
    const box = await (await page.$('.matrix canvas')).boundingBox();
    for (let y = box.y + 60; y < Math.min(box.y + box.height, desktop.height); y += 20) {
      for (let x = box.x + 40; x < box.x + 180; x += 20) {
        await page.mouse.move(x, y);
        const lines = await page
          .$eval('.tip', (each) => (each.hidden ? [] : [...each.children].map((line) => line.textContent)))
          .catch(() => []);
        const [i, j] = [1, 2].map((line) => parseInt(lines[line]?.replace(/\D+/, '')) - 1);
        if (lines.length && allows(i, j)) return { x, y, i, j };
      }
    }
    return assert.fail('no cell that is not masked');
  }

  on(file, 'matrix: a head that is not finite has no sums and means', { hash: 'view=matrix' }, async (page) => {
    const broken = query.some((_, i) => key.some((__, j) => firstHead.isBroken(0, i, j)));
    const said = await page.$$eval('.matrix', ([matrix]) => matrix.parentElement.nextSibling.textContent);
    assert.equal(/not finite/.test(said), broken);
    assert.equal(/a row sums to 1|entropy/.test(said), !broken);
  });

  // Moves the pointer over a matrix; whatever cell the tip names, it must have that cell's weight.
  async function readCells(page, selector, byte, isBroken = () => false) {
    const box = await (await page.$(`${selector} canvas`)).boundingBox();
    const read = new Set();
    for (let x = 0.05; x < 1; x += 0.13) {
      for (let y = 0.05; y < 1; y += 0.17) {
        await page.mouse.move(box.x + x * box.width, Math.min(box.y + y * box.height, desktop.height - 2));
        const tip = await page
          .$eval('.tip', (each) => (each.hidden ? null : [...each.children].map((line) => line.textContent)))
          .catch(() => null);
        if (!tip) continue;
        const [i, j] = [1, 2].map((line) => Number(tip[line].match(/^(?:query|key) (\d+) /)[1]) - 1);
        const name = plain(tip[1]).slice(`query ${i + 1} `.length);
        if (/[^\s\p{Cf}\p{Cc}]/u.test(query[i].label)) assert.equal(name, shownLabel(query[i]));
        else assert.match(name, /^(empty|U\+)/);
        const expected = !allows(i, j)
          ? 'masked: a later token'
          : isBroken(i, j)
            ? 'not finite'
            : `${weightText(byte(i, j))} (${byte(i, j)}/255)`;
        assert.equal(tip[0], expected, `query ${i + 1}, key ${j + 1}`);
        read.add(`${i} ${j}`);
      }
    }
    return read;
  }

  on(
    file,
    'neurons: the score is the product of the vectors, and the row is its softmax',
    { hash: `view=neurons&head=1&query=${middle + 1}` },
    async (page) => {
      const rows = await page.$$eval('.row-table tbody tr', (all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent)),
      );
      const allowed = key.filter((_, j) => allows(middle, j));
      assert.equal(rows.filter((cells) => cells.length > 2).length, allowed.length);
      allowed.forEach((_, j) => {
        const expected = firstHead.isBroken(0, middle, j) ? 'not finite' : weightText(firstHead.at(0, middle, j));
        assert.ok(rows[j].includes(expected), `key ${j + 1}: ${rows[j]} lacks ${expected}`);
      });
      const { vectors } = firstHead;
      if (!vectors) return assert.match(await text(page, '.explains'), /not in this page/);
      const signedBytes = (packed) => new Int8Array(new Uint8Array(inflateSync(Buffer.from(packed, 'base64'))).buffer);
      const [queries, keys] = [signedBytes(vectors.query), signedBytes(vectors.key)];
      const dots = allowed.map((_, j) => {
        let sum = 0;
        for (let d = 0; d < vectors.width; ++d)
          sum += queries[middle * vectors.width + d] * keys[j * vectors.width + d];
        return sum * vectors.query_step * vectors.key_step;
      });
      const number = (shown) => Number(shown.replace('−', '-'));
      dots.forEach((dot, j) => {
        assert.ok(
          Math.abs(number(rows[j][2]) - dot) <= 0.006 + 0.006 * Math.abs(dot),
          `q·k of key ${j + 1}: ${rows[j][2]}, not ${dot}`,
        );
        assert.ok(Math.abs(number(rows[j][3]) - dot * vectors.scale) <= 0.006 + 0.006 * Math.abs(dot * vectors.scale));
      });
      const powers = dots.map((dot) => Math.exp(vectors.scale * (dot - Math.max(...dots))));
      const chosen = await page.$$eval('.row-table tbody tr', (all) =>
        all.findIndex((row) => row.className.includes('chosen')),
      );
      const softmax = powers[chosen] / powers.reduce((sum, power) => sum + power);
      assert.ok(Math.abs(number(await text(page, '[data-step=softmax] strong')) - softmax) < 6e-4);
      assert.equal(number(await text(page, '[data-step=dot] strong')), number(rows[chosen][2]));
      assert.equal(await text(page, '[data-step=score] strong'), rows[chosen][3]);
      assert.equal(await text(page, '[data-step=scale] strong'), vectors.scale.toPrecision(3));
      assert.ok(rows[chosen].includes(await text(page, '[data-step=weight] strong')));
      assert.match(await text(page, '#neurons-note'), vectors.softmax ? /^Vectors are rounded/ : /differs from/);
      for (const strip of ['query', 'key', 'product'])
        assert.ok(await inked(page, `[data-strip=${strip}]`), `the strip of the ${strip} is blank`);
      const box = await (await page.$('[data-strip=query]')).boundingBox();
      await page.mouse.move(box.x + 1, box.y + 5);
      const shown = signed(queries[middle * vectors.width] * vectors.query_step);
      assert.match(await text(page, '.tip'), new RegExp(`dimension 1 of ${vectors.width}q ${shown} ×`));
      await (await page.$$('.row-table tbody button'))[0].click();
      await settled(page);
      assert.equal((await hash(page)).key, '1');
    },
  );

  on(file, 'rollout: the last layer without its diagonal', { hash: 'view=rollout' }, async (page) => {
    if (!rollout) return;
    assert.match(await text(page, '.layer-name'), new RegExp(`^Layer ${layers.at(-1).number} `));
    assert.equal(await page.$eval('.hides input[value=self]', (each) => each.checked), true);
  });

  on(file, 'rollout: its weights, or why there are none', { hash: 'view=rollout&layer=1&hide=none' }, async (page) => {
    if (!rollout) return assert.match(await text(page, '.explains'), /rollout/i);
    const read = await readCells(page, '.matrix', (i, j) => rollout(0, i, j));
    assert.ok(read.size >= Math.min(4, query.length));
    await page.mouse.move(1, 1);
    if (layers.length < 2) return;
    await press(page, ']');
    await readCells(page, '.matrix', (i, j) => rollout(1, i, j));
  });

  on(file, 'layers by buttons, keys and the slider', { hash: `heads=1&query=${middle + 1}` }, async (page) => {
    const last = layers.length - 1;
    const shows = async (layer) => {
      assert.match(await text(page, '.layer-name'), new RegExp(`^Layer ${layers[layer].number} of ${layers.length}$`));
      assert.deepEqual(
        await texts(page, '.column.key .value'),
        key.map((_, j) =>
          !allows(middle, j)
            ? ''
            : layers[layer].isBroken(0, middle, j)
              ? 'not finite'
              : meanText(layers[layer].at(0, middle, j) / 255),
        ),
      );
    };
    await shows(0);
    if (last === 0) return;
    await page.click('[aria-label="Next layer"]');
    await settled(page);
    await shows(1);
    await press(page, '[');
    await shows(0);
    await page.focus('[aria-label="Layer"]');
    await press(page, 'End');
    await shows(last);
    assert.equal((await hash(page)).layer, String(last + 1));
  });

  if (data.attention.length > 1) {
    on(file, 'each kind of attention can be chosen', {}, async (page) => {
      for (const [i, each] of data.attention.entries()) {
        await page.select('select[aria-label="Attention"]', String(i));
        await settled(page);
        assert.equal((await page.$$('.column.query .token')).length, data.texts[each.query].tokens.length);
        assert.equal((await page.$$('.column.key .token')).length, data.texts[each.key].tokens.length);
        assert.equal((await hash(page)).group, String(i + 1));
        for (const view of views) {
          await press(page, String(views.indexOf(view) + 1));
          assert.equal((await hash(page)).view, view);
        }
        await press(page, '1');
      }
    });
  }

  on(file, 'search marks hits and goes from one to the next', { hash: 'heads=1' }, async (page) => {
    const wanted = query[middle].id;
    const both = group.query === group.key ? [query] : [query, key];
    const count = both.flat().filter((token) => token.id === wanted).length;
    await press(page, '/');
    await page.keyboard.type(`#${wanted}`);
    await settled(page);
    assert.equal(await text(page, '.hit-count'), `${count} ${count === 1 ? 'hit' : 'hits'}`);
    assert.deepEqual(
      await page.$$eval('.column.query .token', (all) =>
        all.flatMap((row, i) => (row.classList.contains('hit') ? [i] : [])),
      ),
      query.flatMap((token, i) => (token.id === wanted ? [i] : [])),
    );
    await press(page, 'Enter');
    const first = query.findIndex((token) => token.id === wanted);
    assert.equal((await hash(page)).query, String(first + 1));
    assert.equal(await text(page, '.hit-count'), `1 of ${count}`);
    assert.equal((await page.$$('.column.query .current-hit')).length, 1);
    await press(page, 'Enter');
    assert.equal(await text(page, '.hit-count'), `${count > 1 ? 2 : 1} of ${count}`);
    await page.keyboard.down('Shift');
    await press(page, 'Enter');
    await page.keyboard.up('Shift');
    assert.equal(await text(page, '.hit-count'), `1 of ${count}`);
    await press(page, 'Escape');
    assert.equal((await hash(page)).find, undefined);
    await press(page, '/');
    await page.keyboard.type('no such token anywhere');
    await settled(page);
    assert.equal(await text(page, '.hit-count'), '0 hits');
  });

  on(file, 'search finds words across tokens', { hash: 'heads=1' }, async (page) => {
    const visible = (token) => token.label.replace(/^##/, '').replace(/▁/g, ' ');
    const at = query.findIndex(
      (token, i) =>
        i + 1 < query.length && /^[▁ ]?[a-z]+$/i.test(token.label) && /^(##)?[a-z]+$/.test(query[i + 1].label),
    );
    if (at < 0) return;
    await page.focus('input[type=search]');
    await page.keyboard.type((visible(query[at]) + visible(query[at + 1])).trim());
    await settled(page);
    const found = await page.$$eval('.column.query .token', (all) =>
      all.flatMap((row, i) => (row.classList.contains('hit') ? [i] : [])),
    );
    assert.ok(found.includes(at) && found.includes(at + 1), `found ${found}`);
  });

  on(
    file,
    'a link leads back to what was shown',
    { hash: `view=matrix&layer=${layers.length}&head=${layers.at(-1).heads}&query=1&key=1&shading=root` },
    async (page) => {
      const last = layers.at(-1);
      assert.match(await text(page, '.layer-name'), new RegExp(`^Layer ${last.number} `));
      assert.equal(await page.$eval('.tile[aria-pressed=true] span', (each) => each.textContent), String(last.heads));
      assert.ok(
        (await text(page, '.readout')).includes(
          last.isBroken(last.heads - 1, 0, 0) ? 'not finite' : weightText(last.at(last.heads - 1, 0, 0)),
        ),
      );
      assert.equal(await page.$eval('input[value=root]', (each) => each.checked), true);
      await page.evaluate(() => {
        location.hash = 'view=heads&layer=1&heads=1';
      });
      await page.waitForSelector('.stage');
      await settled(page);
      assert.match(await text(page, '.layer-name'), /^Layer 1 /);
    },
  );

  for (const wrong of [
    'view=no&layer=0&heads=99,x&query=-1&key=1e9&group=7&least=x',
    'layer=999999999999',
    'view=toString&shading=valueOf',
    'heads=0&find=%F0',
    '%',
  ]) {
    on(file, `an address with what is not there, ${wrong}`, { hash: wrong }, async (page) => {
      assert.match(await text(page, '.layer-name'), /^Layer 1 /);
      assert.equal((await page.$$('.stage')).length, 1);
    });
  }

  on(file, 'light and dark, by the system and by the switch', { theme: 'dark', hash: 'view=matrix' }, async (page) => {
    const ground = () =>
      page.evaluate(() =>
        getComputedStyle(document.body)
          .backgroundColor.match(/\d+/g)
          .slice(0, 3)
          .reduce((sum, value) => sum + Number(value), 0),
      );
    const picture = () => page.$eval('.matrix canvas', (canvas) => canvas.toDataURL());
    assert.ok((await ground()) < 150, 'dark by the system');
    const dark = await picture();
    await page.click('.page-header label:has([value=light])');
    await settled(page);
    assert.ok((await ground()) > 600, 'light by the switch');
    assert.notEqual(await picture(), dark, 'the canvas keeps its old colours');
    await press(page, 't');
    assert.ok((await ground()) < 150, 'dark by the key');
    await page.click('.page-header label:has([value=system])');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    await settled(page);
    assert.ok((await ground()) > 600, 'light by the system');
  });

  on(file, 'everything by keys alone, with the focus in sight', { hash: 'heads=1' }, async (page) => {
    const stops = [];
    for (let step = 0; step < 80; ++step) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return null;
        const framed = at.matches('.choice input') ? at.closest('label') : at;
        return {
          name: at.getAttribute('aria-label') ?? at.textContent,
          type: at.type ?? at.getAttribute('role'),
          outline: getComputedStyle(framed).outlineStyle,
        };
      });
      if (!stop) break;
      stops.push(stop);
    }
    assert.ok(stops.length < 80, 'Tab never leaves the page');
    assert.deepEqual(
      stops.filter(({ outline }) => outline === 'none'),
      [],
    );
    for (const type of ['radio', 'range', 'search', 'option', 'button', 'checkbox'])
      assert.ok(
        stops.some((stop) => stop.type === type),
        `Tab never reaches a ${type}`,
      );
    await page.evaluate(() => document.querySelector('.views input:checked').focus());
    for (const view of [...views.slice(1), views[0]]) {
      await press(page, 'ArrowRight');
      assert.equal((await hash(page)).view, view);
    }
    await page.evaluate(() => document.querySelector('.column.query .token[tabindex="0"]').focus());
    await press(page, ...Array(Math.min(2, query.length - 1)).fill('ArrowDown'), 'Enter');
    assert.equal((await hash(page)).query, String(Math.min(3, query.length)));
    await press(page, 'ArrowRight');
    assert.equal(await page.evaluate(() => document.activeElement.closest('.column').classList.contains('key')), true);
  });

  on(file, 'single-letter keys can be switched off', {}, async (page) => {
    await page.click('.keys input');
    await press(page, '3');
    assert.equal((await hash(page)).view ?? 'heads', 'heads');
    await page.click('.keys input');
    await press(page, '3');
    assert.equal((await hash(page)).view, 'matrix');
  });

  on(file, 'nothing moves for those who asked for that', { motion: 'reduce' }, async (page) => {
    assert.deepEqual(
      await page.$$eval('*', (all) =>
        all
          .filter(
            (each) =>
              parseFloat(getComputedStyle(each).transitionDuration) > 0 ||
              getComputedStyle(each).animationName !== 'none',
          )
          .map((each) => each.tagName),
      ),
      [],
    );
  });

  on(file, 'it says what it has', {}, async (page) => {
    const footer = await text(page, '.page-footer');
    for (const part of [
      `${layers.length} layer`,
      '1/255',
      `${query.length} × ${key.length} tokens`,
      ...data.notes,
      data.generator,
    ]) {
      assert.ok(plain(footer).includes(part), `the footer lacks "${part}"`);
    }
  });

  for (const view of views) {
    for (const theme of ['light', 'dark']) {
      on(
        file,
        `${view}, ${theme}: no obstacles, and it fits a phone`,
        { hash: `view=${view}&heads=1&query=${middle + 1}&key=1`, theme, viewport: phone },
        async (page) => {
          if (view === 'grid') await page.waitForSelector('[data-complete]');
          assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]), [360, 360]);
          await picture(page, `${view}-phone-${theme}`);
          assert.deepEqual(await obstacles(page), []);
          await page.setViewport(desktop);
          await settled(page);
          assert.deepEqual(await obstacles(page), []);
          await picture(page, `${view}-desktop-${theme}`);
        },
      );
    }
  }

  on(file, 'a touch chooses a token', { viewport: phone, hash: 'heads=1' }, async (page) => {
    await page.$eval('.column.query .token', (row) => row.scrollIntoView({ block: 'center' }));
    await page.tap('.column.query .token');
    await settled(page);
    assert.equal((await hash(page)).query, '1');
    assert.equal(
      (await texts(page, '.column.key .value'))[0],
      firstHead.isBroken(0, 0, 0) ? 'not finite' : meanText(mean([0], 0, 0)),
    );
  });

  async function picture(page, name) {
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({
      path: join(folder, `${basename(file, '.html')}-${name}.png`),
      fullPage: query.length <= 64,
    });
  }
}

function signed(value) {
  const digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  const shown = Math.abs(value).toFixed(digits);
  return value < 0 && Number(shown) !== 0 ? '−' + shown : shown;
}

// Whether a canvas has something that is neither empty nor all the same.
async function inked(page, selector) {
  return page.$eval(selector, (canvas) => {
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return pixels.some((pixel) => pixel !== pixels[0]);
  });
}
