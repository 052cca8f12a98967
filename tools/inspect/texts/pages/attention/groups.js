'use strict';

// The data of the page, unpacked layer by layer as it is shown. A group is one kind of attention (self-attention of a
// text, or from one text to another) in all layers; weights are bytes, 255 for 1.

const content = data();
const sides = content.beside ? [content, content.beside] : [content];
for (const text of sides.flatMap(({ texts }) => texts))
  text.tokens.forEach((token, i) => {
    token.position = i;
    if (token.label !== '' && !/[^\s\p{Cf}\p{Cc}]/u.test(token.label)) token.label = codePoints(token.label);
    else if (/^\p{M}/u.test(token.label)) token.label = `◌${token.label}`; // a mark is drawn over a letter
  });

// What a token is, beside a word: the one that begins the text, one that separates or ends texts, or punctuation.
const kindNames = ['', 'begin', 'separator'];
function kindOf(token) {
  if (token.kind) return kindNames[token.kind];
  return /^[▁Ġ ]*[\p{P}\p{S}]+$/u.test(token.label) ? 'punctuation' : '';
}

// The last token of the first of two texts that a separator divides; null of one text.
function splitOf(tokens) {
  const end = tokens.findIndex((token) => kindOf(token) === 'separator');
  const isPair = end >= 0 && tokens.slice(end + 1).some((token) => token.kind === 0);
  return isPair ? end : null;
}

// A label that shows nothing, such as of spaces or marks of direction, by its code points.
function codePoints(label) {
  return [...label].map((letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`).join(' ');
}

// What has been unpacked last, so that going back and forth is quick and a page of many layers fits into memory.
const unpackedBytes = 128e6;
const unpacked = new Map();
function unpackOnce(text, size) {
  const known = unpacked.get(text);
  unpacked.delete(text);
  const entry = known ?? { size, bytes: unpack(text).then((bytes) => whole(bytes, size)) };
  unpacked.set(text, entry);
  let total = 0;
  for (const each of unpacked.values()) total += each.size;
  for (const [key, each] of unpacked) {
    if (total <= unpackedBytes || each === entry) break;
    unpacked.delete(key);
    total -= each.size;
  }
  return entry.bytes;
}
function whole(bytes, size) {
  if (bytes.length !== size) throw new Error(`${bytes.length} bytes where ${size} belong`);
  return bytes;
}

// The byte of an element that is not finite, in vectors of queries and keys.
const notFinite = -128;

class Group {
  // SIDE: a model or a text, with the texts that its groups are about.
  constructor(raw, side) {
    this.name = raw.name;
    this.side = side.side ?? null; // its name, of two that are shown side by side
    this.beside = null; // the group of the other side, of the first one
    this.causal = raw.causal;
    this.layers = raw.layers;
    this.query = side.texts[raw.query];
    this.key = side.texts[raw.key];
    this.within = raw.query === raw.key;
    this.queries = this.query.tokens.length;
    this.keys = this.key.tokens.length;
    this.packedRollout = raw.rollout ?? null;
    this.hasValues = raw.layers.some((layer) => layer.values);
    this.split = this.within && !this.causal ? splitOf(this.query.tokens) : null;
    this.pooled = new Map();
  }

  get mostHeads() {
    return Math.max(...this.layers.map((layer) => layer.heads));
  }

  // Whether a query may attend to a key.
  allows(query, key) {
    return !this.causal || key <= query;
  }
  allowed(query) {
    return this.causal ? Math.min(query + 1, this.keys) : this.keys;
  }

  // By 'values' each weight is multiplied by the length of what its key would add to the result, and rows sum to 1
  // again (Kobayashi et al. 2020).
  async weights(index, by = 'weights') {
    const plain = await this.plainWeights(index);
    const { values } = this.layers[index];
    if (by !== 'values' || !values) return plain;
    return plain.times(await unpackOnce(values, plain.heads * this.keys));
  }

  async plainWeights(index) {
    const layer = this.layers[index];
    const size = layer.heads * this.queries * this.keys;
    const [weights, broken] = await Promise.all([
      unpackOnce(layer.weights, size),
      layer.not_finite ? unpackOnce(layer.not_finite, size) : null,
    ]);
    return new Weights(this, layer.heads, weights, broken);
  }

  // The weights of layers 1 to INDEX multiplied, as if of one head; null where the page has none.
  async rollout(index) {
    const size = this.queries * this.keys;
    if (!this.packedRollout) return null;
    const all = await unpackOnce(this.packedRollout, this.layers.length * size);
    return new Weights(this, 1, all.subarray(index * size, (index + 1) * size), null);
  }

  // Queries and keys of a layer, [heads][time][width], which are stored as signed bytes; NaN for what is not finite.
  // Null where the page has none.
  async vectors(index) {
    const { heads, vectors } = this.layers[index];
    if (!vectors) return null;
    const { width, scale, softmax, query_step: queryStep, key_step: keyStep } = vectors;
    const [query, key] = await Promise.all([
      unpackOnce(vectors.query, heads * this.queries * width),
      unpackOnce(vectors.key, heads * this.keys * width),
    ]);
    const slice = (bytes, step, time) => (head, i) =>
      Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset + (head * time + i) * width, width), (value) =>
        value === notFinite ? NaN : value * step,
      );
    return { width, scale, softmax, query: slice(query, queryStep, this.queries), key: slice(key, keyStep, this.keys) };
  }
}

// Weights of a layer: [heads][query][key].
class Weights {
  constructor(group, heads, bytes, broken) {
    Object.assign(this, { group, heads, bytes, broken });
  }

  // LENGTHS: [heads][key].
  times(lengths) {
    const { queries, keys } = this.group;
    const bytes = new Uint8Array(this.bytes.length);
    for (let row = 0; row < this.heads * queries; ++row) {
      const of = lengths.subarray(Math.floor(row / queries) * keys);
      let sum = 0;
      for (let j = 0; j < keys; ++j) sum += this.bytes[row * keys + j] * of[j];
      for (let j = 0; sum > 0 && j < keys; ++j)
        bytes[row * keys + j] = Math.round((255 * this.bytes[row * keys + j] * of[j]) / sum);
    }
    return new Weights(this.group, this.heads, bytes, this.broken);
  }

  index(head, query, key) {
    return (head * this.group.queries + query) * this.group.keys + key;
  }
  at(head, query, key) {
    return this.bytes[this.index(head, query, key)];
  }
  isBroken(head, query, key) {
    return this.broken !== null && this.broken[this.index(head, query, key)] !== 0;
  }

  // How many weights of a head are not finite.
  countBroken(head) {
    if (!this.broken) return 0;
    const size = this.group.queries * this.group.keys;
    return this.broken.subarray(head * size, (head + 1) * size).reduce((sum, each) => sum + each, 0);
  }

  // The LIMIT greatest weights of the heads, greatest first, of one query or key where it is given.
  // Of all queries, those that have a choice: the first one of a causal model has only itself. HIDES(query, key): pairs
  // that are left out.
  strongest(heads, limit, { query = null, key = null } = {}, hides = () => false) {
    const found = [];
    const begin = this.group.causal && this.group.queries > 1 && key === null ? 1 : 0;
    const [firstQuery, endQuery] = query === null ? [begin, this.group.queries] : [query, query + 1];
    const [firstKey, endKey] = key === null ? [0, this.group.keys] : [key, key + 1];
    let least = 0;
    for (const head of heads) {
      for (let i = firstQuery; i < endQuery; ++i) {
        for (let j = firstKey; j < endKey; ++j) {
          const weight = this.at(head, i, j);
          if (weight <= least || this.isBroken(head, i, j) || hides(i, j)) continue;
          found.push({ head, query: i, key: j, weight });
          if (found.length < 4 * limit + 64) continue;
          least = keepStrongest(found, limit);
        }
      }
    }
    keepStrongest(found, limit);
    return found;
  }

  // The mean of the heads' weights of a pair, between 0 and 1; NaN where one is not finite.
  mean(heads, query, key) {
    let sum = 0;
    for (const head of heads) {
      if (this.isBroken(head, query, key)) return NaN;
      sum += this.at(head, query, key);
    }
    return sum / 255 / heads.length;
  }

  // What a head does, as means over its queries: the weight that goes to the token itself, to the one before, the one
  // after, the first of the text and those that separate texts, and the entropy in bits beside that of even weights. Null where some weights are
  // not finite: there are no such means.
  habits(head) {
    if (this.countBroken(head)) return null;
    const { queries, keys, within } = this.group;
    const result = { self: 0, previous: 0, next: 0, first: 0, separator: 0, entropy: 0, even: 0 };
    const separators = this.group.key.tokens.filter((token) => kindOf(token) === 'separator');
    for (let i = 0; i < queries; ++i) {
      const allowed = this.group.allowed(i);
      let total = 0;
      let terms = 0;
      for (let j = 0; j < allowed; ++j) {
        const weight = this.at(head, i, j);
        total += weight;
        if (weight) terms += weight * Math.log2(weight);
      }
      if (total) result.entropy += Math.log2(total) - terms / total;
      result.even += Math.log2(allowed || 1);
      if (keys) result.first += this.at(head, i, 0) / 255;
      for (const { position } of separators) result.separator += this.at(head, i, position) / 255;
      if (!within) continue;
      result.self += this.at(head, i, i) / 255;
      if (i > 0) result.previous += this.at(head, i, i - 1) / 255;
      if (i + 1 < keys) result.next += this.at(head, i, i + 1) / 255;
    }
    for (const name of Object.keys(result)) result[name] /= queries || 1;
    return result;
  }
}

function keepStrongest(found, limit) {
  found.sort((a, b) => b.weight - a.weight || a.head - b.head || a.query - b.query || a.key - b.key);
  found.length = Math.min(found.length, limit);
  return found.length === limit ? found[limit - 1].weight : 0;
}

const habitNames = {
  self: 'itself',
  previous: 'the previous token',
  next: 'the next token',
  first: 'the first token',
  separator: '[SEP]',
};

// A habit in two words, for a thumbnail: where most of the weight goes, if it goes somewhere, or all but a fifth of it.
function habitLabel(habits) {
  const [name, weight] = Object.keys(habitNames)
    .map((each) => [each, habits[each]])
    .sort((a, b) => b[1] - a[1])[0];
  if (weight >= 0.8) return `only ${name}`;
  if (weight >= 0.4) return `${name} ${percent(weight)}`;
  return habits.even > 0 && habits.entropy >= 0.8 * habits.even ? 'spread' : '';
}

function habitSentence(habits) {
  const parts = Object.entries(habitNames)
    .filter(([name]) => habits[name] >= 0.1)
    .sort((a, b) => habits[b[0]] - habits[a[0]])
    .map(([name, words]) => `${percent(habits[name])} to ${words}`);
  const entropy = `entropy ${habits.entropy.toFixed(1)} of at most ${habits.even.toFixed(1)} bits`;
  return `On average ${[...parts, entropy].join(', ')}.`;
}

// A weight that was rounded to 1/255, as a number.
function weightText(byte, broken = false) {
  if (broken) return 'not finite';
  return byte === 0 ? '< 0.002' : (byte / 255).toFixed(3);
}
function meanText(mean) {
  if (Number.isNaN(mean)) return 'not finite';
  return mean < 0.0005 ? '0' : mean.toFixed(mean < 0.0995 ? 3 : 2).replace(/^0/, '');
}

// A token in a sentence, and as an element.
function tokenText(token) {
  return `${token.position + 1} “${isolated(token.label === '' ? 'empty' : token.label)}”`;
}
function tokenNode(token) {
  if (token.label === '') return el('span', { class: 'empty' }, ['empty']);
  const [, spaces, rest] = token.label.match(/^(▁*)(.*)$/s);
  return el('bdi', {}, [spaces ? el('span', { class: 'space' }, [spaces]) : null, rest]);
}

// For a canvas, where a block that stands for a space is too heavy.
function drawnLabel({ label }) {
  return label === '' ? 'empty' : label.replace(/^▁+/, (spaces) => '_'.repeat(spaces.length));
}
