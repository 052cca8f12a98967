// Tests of pages of `inspect explain`; see pages.mjs.
import assert from 'node:assert/strict';
import { dataOf, press, settled } from './browser.mjs';
import { files, fits, hash, isInert, on, text, texts } from './pages.mjs';

for (const file of files) {
  const data = dataOf(file);
  const signed = (x) => (x < 0 ? '−' : '+') + Math.abs(x).toFixed(2);
  const [first] = data.texts;

  isInert(file);

  on(file, 'each word has its contribution below it, and the ranked list begins with the largest', {}, async (page) => {
    const [answer] = first.answers;
    assert.deepEqual(
      await texts(page, '.word bdi'),
      first.words.map(([, word]) => word),
    );
    assert.deepEqual(await texts(page, '.word .below'), answer.contributions.map(signed));
    const largest = answer.contributions.reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most));
    assert.equal((await texts(page, '.ranked tbody td.numbers'))[0], signed(largest));
    assert.ok((await text(page, 'main [role="status"]')).includes(answer.answer));
  });

  on(file, 'shades follow the size of the contributions, and colours their signs', {}, async (page) => {
    const { contributions } = first.answers[0];
    const largest = Math.max(...contributions.map(Math.abs));
    const shown = await page.$$eval('.word', (all) =>
      all.map((each) => [each.style.getPropertyValue('--share'), each.classList.contains('against')]),
    );
    assert.deepEqual(
      shown,
      contributions.map((x) => [(Math.abs(x) / largest).toFixed(3), x < 0]),
    );
  });

  if (first.answers.length > 1) {
    on(file, 'keys and the list go to another answer, and a link leads back to it', {}, async (page) => {
      await press(page, ']');
      assert.equal((await hash(page)).answer, '1');
      assert.deepEqual(await texts(page, '.word .below'), first.answers[1].contributions.map(signed));
      await page.reload();
      await settled(page);
      assert.ok((await text(page, 'main [role="status"]')).includes(first.answers[1].answer));
    });
  }

  fits(file, 'explain', '');
}
