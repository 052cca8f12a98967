// What is shown. The address keeps it: layers, heads and tokens are counted from 1 there, and from 0 here.

// Two sides have the same groups, with the same layers and heads; what is chosen holds for both.
const groups = content.attention.map((raw, i) => {
  const [first, second] = sides.map((side) => new Group(side.attention[i], side));
  if (second) first.beside = second;
  return first;
});
const views = { heads: 'Heads', grid: 'Grid', matrix: 'Matrix', neurons: 'Neurons', rollout: 'Rollout' };
const everyHead = 'all';
const hideNames = { self: 'itself', begin: '[CLS]', separator: '[SEP]', punctuation: 'punctuation' };
const byNames = { weights: 'Weights', values: '× values' };
const wayNames = {
  all: 'all',
  forward: 'first → second text',
  backward: 'second → first text',
  within: 'within a text',
};
const shadingNames = { even: 'Even shades', root: '√ shades' };

let state = {};

// The weights of many keys are small; by the square root they differ from 0 in sight.
function usualShading(group) {
  return groups[group].keys > 64 ? 'root' : 'even';
}

function stateFrom(hash) {
  const number = (text) => (/^\d+$/.test(text ?? '') ? Number(text) - 1 : null);
  return settled({
    view: hash.view,
    group: number(hash.group) ?? 0,
    layer: number(hash.layer) ?? firstLayer(hash.view, number(hash.group) ?? 0),
    head: number(hash.head) ?? 0,
    heads: hash.heads === everyHead ? everyHead : hash.heads?.split(',').map(number),
    query: number(hash.query),
    key: number(hash.key),
    find: hash.find ?? '',
    least: hash.least === undefined ? null : Number(hash.least),
    hide: hash.hide?.split(',') ?? Object.keys(hideNames),
    shading: hash.shading,
    by: hash.by,
    way: hash.way,
  });
}

// Rollout is about all layers, and begins with their product.
function firstLayer(view, group) {
  return view === 'rollout' && groups[group] ? groups[group].layers.length - 1 : 0;
}

function hashOf(shown) {
  const number = (value) => (value === null ? null : value + 1);
  return {
    view: shown.view,
    group: groups.length > 1 ? shown.group + 1 : null,
    layer: shown.layer + 1,
    head: shown.head + 1,
    heads: shown.heads === everyHead ? everyHead : shown.heads.map(number).join(',') || '0',
    query: number(shown.query),
    key: number(shown.key),
    find: shown.find,
    least: shown.least,
    hide: shown.hide.length === Object.keys(hideNames).length ? null : shown.hide.join(',') || 'none',
    shading: shown.shading === usualShading(shown.group) ? null : shown.shading,
    by: shown.by === 'weights' ? null : shown.by,
    way: shown.way === 'all' ? null : shown.way,
  };
}

// The state with everything that there is not replaced by what there is.
function settled(wanted) {
  const within = (value, count) => (Number.isInteger(value) && value >= 0 && value < count ? value : null);
  const group = within(wanted.group, groups.length) ?? 0;
  const { layers, mostHeads } = groups[group];
  const shown = panesOf(groups[group]);
  const queries = Math.max(...shown.map((each) => each.queries));
  const keys = Math.max(...shown.map((each) => each.keys));
  const layer = within(wanted.layer, layers.length) ?? 0;
  const { heads } = layers[layer];
  const few = heads * Math.max(queries, keys) <= 400;
  const chosen = wanted.heads ?? (few ? everyHead : [0]);
  return {
    ...wanted,
    group,
    layer,
    view: Object.hasOwn(views, wanted.view) ? wanted.view : 'heads',
    head: Math.min(within(wanted.head, mostHeads) ?? 0, heads - 1),
    heads: chosen === everyHead ? everyHead : chosen.filter((head) => within(head, mostHeads) !== null),
    query: within(wanted.query, queries),
    key: within(wanted.key, keys),
    least: Number.isFinite(wanted.least) ? Math.min(Math.max(wanted.least, 0), 50) : null,
    hide: Object.keys(hideNames).filter((name) => wanted.hide.includes(name)),
    shading: Object.hasOwn(shadingNames, wanted.shading) ? wanted.shading : usualShading(group),
    by: shown.some(({ hasValues }) => hasValues) && Object.hasOwn(byNames, wanted.by) ? wanted.by : 'weights',
    way: shown.some(({ split }) => split !== null) && Object.hasOwn(wayNames, wanted.way) ? wanted.way : 'all',
  };
}

// The least weight that has a line, in percent.
function leastPercent() {
  return state.least ?? 25;
}

// Whether the links of a pair are left out: those of a token to itself, of special tokens and punctuation, and those
// that go another way between two texts.
function isHidden(group, query, key) {
  if (group.split !== null) {
    const [fromFirst, toFirst] = [query <= group.split, key <= group.split];
    if (state.way === 'forward' && !(fromFirst && !toFirst)) return true;
    if (state.way === 'backward' && !(!fromFirst && toFirst)) return true;
    if (state.way === 'within' && fromFirst !== toFirst) return true;
  }
  if (state.hide.includes('self') && group.within && query === key) return true;
  return [group.query.tokens[query], group.key.tokens[key]].some((token) => state.hide.includes(kindOf(token)));
}

// The query whose weight to another word is greatest in the layer that is shown; null where there is none.
async function strongestQuery(group) {
  const weights = await group.weights(state.layer, state.by);
  const heads = Array.from({ length: weights.heads }, (_, i) => i);
  return weights.strongest(heads, 1, {}, (i, j) => isHidden(group, i, j))[0]?.query ?? null;
}

// A group, and the one that is shown beside it.
function panesOf(group) {
  return group.beside ? [group, group.beside] : [group];
}

// The query and the key that were chosen, where a group has such.
function chosenOf(group) {
  return {
    query: state.query !== null && state.query < group.queries ? state.query : null,
    key: state.key !== null && state.key < group.keys ? state.key : null,
  };
}

function currentGroup() {
  return groups[state.group];
}

// The heads that the head view shows, of those that the layer has.
function shownHeads() {
  const { heads } = currentGroup().layers[state.layer];
  return state.heads === everyHead
    ? Array.from({ length: heads }, (_, i) => i)
    : state.heads.filter((head) => head < heads);
}

// Search. Tokens are pieces of words: the text is searched as a whole, with a space where a piece says that a word
// begins and, for tokenizers whose pieces do not say that, also with one between all tokens. A hit, [first, last], is
// all tokens that it touches.
function hits(text, wanted) {
  const number = wanted.match(/^#(\d+)$/);
  if (number) {
    return text.tokens.filter(({ id }) => id === Number(number[1])).map(({ position }) => [position, position]);
  }
  const needle = folded(wanted).trimEnd();
  if (!needle) return [];
  const found = new Map();
  for (const begins of [beginsWord, () => true]) {
    for (const hit of hitsIn(text.tokens, needle, begins)) found.set(String(hit), hit);
  }
  return [...found.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function hitsIn(tokens, needle, begins) {
  let joined = '';
  const owners = [];
  for (const token of tokens) {
    const letters = (begins(token) ? ' ' : '') + folded(token.label.replace(/^##|^▁/, ''));
    joined += letters;
    for (let i = 0; i < letters.length; ++i) owners.push(token.position);
  }
  const found = [];
  for (let at = joined.indexOf(needle); at >= 0; at = joined.indexOf(needle, at + needle.length)) {
    found.push([owners[at], owners[at + needle.length - 1]]);
  }
  return found;
}

function beginsWord({ piece, label }) {
  return /^[▁Ġ ]/.test(piece) || label.startsWith('▁');
}
function folded(letters) {
  return letters.normalize('NFC').toLowerCase().replace(/▁/g, ' ');
}
