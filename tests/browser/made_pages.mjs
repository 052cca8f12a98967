// Pages with data that no small model gives: node made_pages.mjs PAGE FOLDER [--large]
//
// Writes pages that have the style and the script of PAGE: one with weights that are not finite and tokens that are
// markup, marks of direction, control characters, empty or very long, one whose second layer is damaged, one with
// vectors that are not finite, and one of many tokens; with --large instead two of the sizes that must open quickly.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

const [shell, folder, large] = process.argv.slice(2);

function write(name, data) {
  const html = readFileSync(shell, 'utf8');
  const begin = html.indexOf('>', html.indexOf('id="data"')) + 1;
  const end = html.indexOf('</script>', begin);
  const json = JSON.stringify({ generator: 'heddle', model: 'made.h5', notes: [], ...data }).replaceAll('<', '\\u003c');
  writeFileSync(join(folder, name), html.slice(0, begin) + json + html.slice(end));
}

let seed = 1;
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

const packed = (bytes) => deflateSync(bytes).toString('base64');

// Rows of weights that sum to 1: some heads attend near by, some to the first token, some widely.
function weightsOf(heads, queries, keys, causal) {
  const bytes = new Uint8Array(heads * queries * keys);
  for (let head = 0; head < heads; ++head) {
    for (let i = 0; i < queries; ++i) {
      const allowed = causal ? Math.min(i + 1, keys) : keys;
      const scores = Array.from({ length: allowed }, (_, j) => {
        const near = [-Math.abs(i - j), j === 0 ? 5 : 0, 0][head % 3];
        return Math.exp(near + 2 * random());
      });
      const total = scores.reduce((sum, score) => sum + score);
      scores.forEach((score, j) => {
        bytes[(head * queries + i) * keys + j] = Math.round((255 * score) / total);
      });
    }
  }
  return bytes;
}

function group(layers, heads, tokens, causal, brokenLayer = -1) {
  const list = Array.from({ length: layers }, (_, index) => {
    const weights = weightsOf(heads, tokens, tokens, causal);
    const broken = new Uint8Array(weights.length);
    if (index === brokenLayer) {
      broken.fill(1, tokens, 2 * tokens);
      weights.fill(0, tokens, 2 * tokens);
    }
    return {
      name: `decoder/${index}/attention`,
      number: index + 1,
      heads,
      weights: packed(weights),
      not_finite: index === brokenLayer ? packed(broken) : null,
      vectors: null,
    };
  });
  return { name: 'self-attention', query: 0, key: 0, causal, layers: list, rollout: null };
}

const text = (labels) => ({ name: 'text', tokens: labels.map((label, i) => ({ label, piece: label, id: i })) });

const strange = [
  '</script><script>document.title="x"</script>',
  '<img src=x onerror=alert(1)>',
  '<!--',
  '&amp;',
  '\u0000',
  '',
  ' ',
  '\u202eabc',
  '\u2067\u2067',
  '注意力',
  'مرحبا',
  'שלום',
  '👩‍👩‍👧',
  '🇩🇪',
  'e\u0301\u0302\u0303',
  '\u05b8',
  'Donaudampfschifffahrtsgesellschaftskapitän',
  'x'.repeat(300),
  'javascript:alert(1)',
  '${1+1}',
  'constructor',
];

if (large) {
  for (const [layers, heads, tokens] of [
    [12, 12, 128],
    [24, 16, 512],
  ]) {
    const labels = Array.from({ length: tokens }, (_, i) => `token${i}`);
    const data = { texts: [text(labels)], attention: [group(layers, heads, tokens, true)] };
    write(`${layers}x${heads}x${tokens}.html`, data);
  }
} else {
  const damaged = group(2, 3, 4, false);
  damaged.layers[1].weights = damaged.layers[1].weights.slice(0, 8);
  write('damaged.html', { texts: [text(['a', 'b', 'c', 'd'])], attention: [damaged] });
  const broken = group(1, 1, 4, false);
  const vectors = Int8Array.from({ length: 8 }, (_, i) => (i === 2 ? -128 : 10 * i));
  const packedVectors = packed(new Uint8Array(vectors.buffer));
  broken.layers[0].vectors = {
    width: 2,
    scale: 1,
    query: packedVectors,
    query_step: 0.01,
    key: packed(new Uint8Array(vectors.fill(1, 2, 3).buffer)),
    key_step: 0.01,
    softmax: true,
  };
  write('broken.html', { texts: [text(['a', 'b', 'c', 'd'])], attention: [broken] });
  // Two texts, and keys whose values differ in length.
  const two = group(1, 2, 7, false);
  two.layers[0].values = packed(Uint8Array.from({ length: 14 }, (_, i) => (i % 7 === 3 ? 0 : 255 - 30 * (i % 7))));
  const pair = text(['[CLS]', 'one', 'two', '[SEP]', 'three', 'four', '[SEP]']);
  pair.tokens.forEach((token, i) => (token.kind = [1, 0, 0, 2, 0, 0, 2][i]));
  write('two.html', { texts: [pair], attention: [two] });
  const words = Array.from({ length: 80 }, (_, i) => `token${i}`);
  write('long.html', { texts: [text(words)], attention: [group(1, 2, words.length, true)] });
  write('strange.html', { texts: [text(strange)], attention: [group(2, 3, strange.length, false, 0)] });
}
