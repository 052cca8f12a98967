// The page: controls, search, keys, and the view that is chosen.

const makers = { heads: linesView, grid: gridView, matrix: matrixView, neurons: neuronsView, rollout: rolloutView };
const search = { found: [], at: -1 };
const holder = el('section', { class: 'view', 'aria-label': 'Picture' });
let mounted = null; // the view that is in the page, of each side
let turn = 0;

const controls = toolbar();
const main = document.getElementById('main');
const keysLine = shortcuts([
  {
    keys: ['1', '2', '3', '4', '5'],
    does: 'views',
    run: (key) => showView(Object.keys(views)[Number(key) - 1]),
  },
  { keys: ['[', ']'], does: 'previous, next layer', run: (key) => stepLayer(key === ']' ? 1 : -1) },
  { keys: [',', '.'], does: 'previous, next head', run: (key) => stepHead(key === '.' ? 1 : -1) },
  { keys: ['a'], does: 'all heads', run: () => update({ heads: everyHead }) },
  { keys: ['/'], does: 'search', run: () => controls.find.focus() },
  { keys: ['n', 'N'], does: 'next, previous hit', run: (key) => stepHit(key === 'n' ? 1 : -1) },
  { keys: ['t'], does: 'light, dark', run: switchTheme },
  { keys: ['Escape'], does: 'all tokens', run: () => update({ query: null, key: null }) },
]);

function showView(view) {
  const opens = view === 'rollout' && state.view !== 'rollout';
  update(opens ? { view, layer: firstLayer(view, state.group) } : { view });
}

// Changes what is shown, in the page and in its address.
function update(changes) {
  state = settled({ ...state, ...changes });
  writeHash(hashOf(state));
  render().catch(failed);
}

async function render() {
  const mine = ++turn;
  main.setAttribute('aria-busy', 'true');
  controls.show();
  const group = currentGroup();
  const isAlone = state.view === 'rollout' || state.view === 'grid';
  const by = state.view === 'neurons' ? 'weights' : state.by; // it shows how weights are computed
  const shown = panesOf(group);
  const weights = await Promise.all(shown.map((each) => (isAlone ? null : each.weights(state.layer, by))));
  if (mine !== turn) return;
  if (mounted?.name !== state.view || mounted.group !== group) {
    for (const view of mounted?.views ?? []) view.end();
    mounted = { name: state.view, group, views: shown.map((each) => makers[state.view](each)) };
    holder.replaceChildren(framed(shown, mounted.views));
  }
  await Promise.all(mounted.views.map((view, i) => view.show(weights[i])));
  if (mine === turn) main.setAttribute('aria-busy', 'false');
}

// One view fills the page; two stand side by side, or below each other on a narrow screen.
function framed(shown, views) {
  if (views.length === 1) return views[0].frame;
  for (const part of views[1].frame.querySelectorAll('[id]')) part.removeAttribute('id');
  return el(
    'div',
    { class: 'panes' },
    views.map((view, i) =>
      el('section', { class: 'pane', 'aria-label': shown[i].side }, [
        el('h2', { class: 'pane-name' }, [bdi(shown[i].side)]),
        view.frame,
      ]),
    ),
  );
}

function failed(error) {
  holder.replaceChildren(
    el('p', { class: 'warning', role: 'alert' }, [
      `The page cannot show layer ${state.layer + 1}: ${error.message}. `,
      'Is the file whole? Write it again with inspect attention.',
    ]),
  );
  mounted = null;
  main.setAttribute('aria-busy', 'false');
}

function stepLayer(step) {
  const { layers } = currentGroup();
  const layer = Math.min(Math.max(state.layer + step, 0), layers.length - 1);
  update({ layer });
  announce(`Layer ${layers[layer].number} of ${layers.length}`);
}
function stepHead(step) {
  const { heads } = currentGroup().layers[state.layer];
  const head = (state.head + step + heads) % heads;
  update({ head, heads: [head] });
  announce(`Head ${head + 1} of ${heads}`);
}

function switchTheme() {
  const dark =
    getComputedStyle(document.documentElement).colorScheme === 'dark' ||
    (document.documentElement.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  main.querySelector('.page-header .choice').value = dark ? 'light' : 'dark';
  setTheme(dark ? 'light' : 'dark');
}

// Search: all hits are marked; the one that the search is at becomes the query, or the key where the text has only
// keys.
function findAll(wanted) {
  const all = panesOf(currentGroup()).flatMap(({ query, key }) => [query, key]);
  search.found = [...new Set(all)].flatMap((text) =>
    hits(text, wanted).map(([first, last]) => ({ text, first, last })),
  );
  search.at = -1;
}
function stepHit(step) {
  const count = search.found.length;
  if (!count) return;
  search.at = search.at < 0 ? (step > 0 ? 0 : count - 1) : (search.at + step + count) % count;
  const { text, first } = search.found[search.at];
  const at = panesOf(currentGroup()).findIndex(({ query, key }) => text === query || text === key);
  const side = text === panesOf(currentGroup())[at].query ? 'query' : 'key';
  update({ view: state.view === 'grid' ? 'heads' : state.view, query: null, key: null, [side]: first });
  announce(`Hit ${search.at + 1} of ${count}: ${tokenText(text.tokens[first])}`);
  requestAnimationFrame(() => mounted?.views[at].reveal(side, first));
}

function toolbar() {
  const kinds = el(
    'select',
    { 'aria-label': 'Attention', onchange: () => update({ group: Number(kinds.value), query: null, key: null }) },
    groups.map((group, i) => el('option', { value: i }, [group.name])),
  );
  const view = choice('View', views, 'heads', showView);
  view.classList.add('views');
  const range = el('input', {
    type: 'range',
    min: 0,
    step: 1,
    'aria-label': 'Layer',
    oninput: () => update({ layer: Number(range.value) }),
  });
  const layerText = el('output', { class: 'numbers layer-name' });
  const before = button('‹', () => stepLayer(-1), { 'aria-label': 'Previous layer' });
  const after = button('›', () => stepLayer(1), { 'aria-label': 'Next layer' });
  const by = choice('What is shown', byNames, 'weights', (value) => update({ by: value }));
  const find = el('input', {
    type: 'search',
    placeholder: 'Search tokens',
    'aria-label': 'Search tokens, or #id',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => update({ find: find.value }),
    onkeydown: (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        stepHit(event.shiftKey ? -1 : 1);
      }
      if (event.key === 'Escape') {
        event.preventDefault();
        update({ find: '' });
        find.blur();
      }
    },
  });
  const count = el('output', { class: 'quiet numbers hit-count' });
  const upwards = button('↑', () => stepHit(-1), { 'aria-label': 'Previous hit' });
  const downwards = button('↓', () => stepHit(1), { 'aria-label': 'Next hit' });
  const frame = el('div', { class: 'toolbar', role: 'group', 'aria-label': 'What is shown' }, [
    groups.length > 1 ? field('Attention', kinds) : null,
    view,
    el('div', { class: 'layer' }, [before, range, after, layerText]),
    by,
    el('div', { class: 'search', role: 'search' }, [find, upwards, downwards, count]),
  ]);
  let searched = null;

  function show() {
    const { layers } = currentGroup();
    const layer = layers[state.layer];
    kinds.value = state.group;
    view.value = state.view;
    by.value = state.by;
    by.hidden =
      !panesOf(currentGroup()).some(({ hasValues }) => hasValues) ||
      state.view === 'neurons' ||
      state.view === 'rollout';
    range.max = layers.length - 1;
    range.value = state.layer;
    range.disabled = layers.length < 2;
    range.setAttribute('aria-valuetext', `layer ${layer.number} of ${layers.length}`);
    layerText.replaceChildren(el('strong', {}, [`Layer ${layer.number}`]), ` of ${layers.length}`);
    layerText.title = layer.name;
    before.disabled = state.layer === 0;
    after.disabled = state.layer === layers.length - 1;
    if (find.value !== state.find) find.value = state.find;
    const wanted = `${state.group} ${state.find}`;
    if (wanted !== searched) findAll(state.find);
    searched = wanted;
    const found = search.found.length;
    count.value = !state.find ? '' : search.at >= 0 ? `${search.at + 1} of ${found}` : counted(found, 'hit', 'hits');
    upwards.disabled = downwards.disabled = found === 0;
  }
  return { frame, show, find };
}

// What is in the page, so that no one looks for what is not.
function embedded() {
  const packedBytes = (layer) => layer.weights.length + (layer.not_finite?.length ?? 0);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const all = groups.flatMap(panesOf);
  const sentences = all.map((group) => {
    const { layers, queries, keys, mostHeads } = group;
    const size = [
      counted(layers.length, 'layer', 'layers'),
      counted(mostHeads, 'head', 'heads'),
      queries,
      `${keys} tokens`,
    ];
    const rollout = group.packedRollout ? `, and their rollout (${byteSize(group.packedRollout.length)})` : '';
    const bytes = byteSize(sum(layers.map(packedBytes)));
    const kind = group.name[0].toUpperCase() + group.name.slice(1);
    const name = group.side === null ? kind : `${kind}, ${isolated(group.side)}`;
    return `${name}: the weights of ${size.join(' × ')}, rounded to multiples of 1/255 (${bytes})${rollout}.`;
  });
  const vectors = sum(
    all.flatMap((group) => group.layers.map(({ vectors: each }) => (each ? each.query.length + each.key.length : 0))),
  );
  if (vectors) sentences.push(`Vectors of queries and keys, rounded to 8 bits (${byteSize(vectors)}).`);
  const values = sum(all.flatMap((group) => group.layers.map((layer) => layer.values?.length ?? 0)));
  if (values) {
    sentences.push(
      'The length of what each key would add to the result of its head, rounded to 1/255 of the largest of a layer ' +
        `(${byteSize(values)}): “× values” multiplies weights by it, and rows sum to 1 again.`,
    );
  }
  return [...sentences, ...content.notes, 'Not in the page: other activations, the model.'];
}

// Without an address that says what to show, the page opens on the query that attends most to another word.
async function open() {
  if (!location.hash) state.query = await strongestQuery(currentGroup()).catch(() => null);
  await render();
}

function start() {
  const names = sides.flatMap(({ side, texts }) =>
    texts.map((text) => {
      const name = isolated(side ? `${side}: ${text.name}` : text.name);
      return `${name} of ${counted(text.tokens.length, 'token', 'tokens')}`;
    }),
  );
  main.replaceChildren(
    pageHeader('Attention', [bdi(content.model), ' · ', names.join(', ')]),
    controls.frame,
    holder,
    el('section', { 'aria-label': 'Keys' }, [keysLine]),
    pageFooter(embedded(), content.generator),
  );
  state = stateFrom(readHash());
  open().catch(failed);
  addEventListener('hashchange', () => {
    state = stateFrom(readHash());
    render().catch(failed);
  });
  onTheme(() => {
    for (const view of mounted?.views ?? []) view.recolour();
  });
}

if (groups.length) start();
else main.replaceChildren(el('p', { class: 'explains' }, ['This page has no attention weights.']));
