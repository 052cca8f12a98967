'use strict';

// Pairs of sentences: which source tokens each target token was predicted from.
{
  const given = data();
  const state = { pair: '0', target: '', ...readHash() };
  const within = (value, count) => String(Math.min(Math.max(0, Number(value) || 0), count - 1));
  const least = 300; // thousandths that are printed; others on demand

  const pairOf = () => given.pairs[state.pair];
  const weightAt = (i, j) => pairOf().weights[i * pairOf().source.length + j];
  const numberOf = (weight) => (weight === null ? '?' : (weight / 1000).toFixed(2).replace(/^0/, ''));
  const tokens = (list) => list.map((token) => bdi(token));

  function nameOf(i) {
    const text = given.pairs[i].source.slice(0, -1).join(' ');
    return `${i + 1}. ${text.length > 60 ? text.slice(0, 60) + '…' : text}`;
  }

  const choiceOfPair = el(
    'select',
    {
      onchange: () => {
        state.pair = choiceOfPair.value;
        state.target = '';
        draw();
      },
    },
    given.pairs.map((_, i) => el('option', { value: i }, [nameOf(i)])),
  );
  const targets = el('p', { class: 'sentence', dir: 'auto', role: 'group', 'aria-label': 'Target' });
  const sources = el('p', { class: 'sentence', dir: 'auto' });
  const summary = el('p', { class: 'quiet', role: 'status' });
  const matrix = el('div', { class: 'scrolls', tabindex: '0', role: 'region', 'aria-label': 'Weights' });

  // The source tokens of a target token, the largest weight first.
  function strongest(i) {
    const all = pairOf().source.map((token, j) => [token, weightAt(i, j) ?? 0]);
    return all
      .sort((a, b) => b[1] - a[1])
      .slice(0, 3)
      .map(([token, weight]) => `${isolated(token)} ${numberOf(weight)}`)
      .join(', ');
  }

  function choose(i) {
    state.target = state.target === String(i) ? '' : String(i);
    mark();
    writeHash(state);
  }

  // Shades the source by the chosen target token.
  function mark() {
    const i = state.target === '' ? null : Number(state.target);
    for (const [k, each] of [...targets.querySelectorAll('button')].entries()) {
      each.setAttribute('aria-pressed', String(k === i));
    }
    for (const [j, each] of [...sources.querySelectorAll('.token')].entries()) {
      shade(each, i === null ? 0 : weightAt(i, j));
    }
    for (const [k, row] of [...matrix.querySelectorAll('tbody tr')].entries()) row.classList.toggle('hit', k === i);
    summary.textContent =
      i === null
        ? 'Choose a target token to see which source tokens it was predicted from.'
        : `${isolated(pairOf().target[i])}: ${strongest(i)}`;
  }

  function shade(element, weight) {
    const [from, to] = [rgb('--surface'), rgb('--shade')];
    const colour = from.map((value, k) => Math.round(value + ((to[k] - value) * (weight ?? 0)) / 1000));
    element.style.background = css(colour);
    element.style.color = weight === null ? 'var(--warning)' : textOn(colour);
  }

  function cellOf(i, j) {
    const weight = weightAt(i, j);
    const isSeen = weight === null || weight >= least;
    const cell = el('td', {}, [el('span', { class: isSeen ? null : 'unseen' }, [numberOf(weight)])]);
    shade(cell, weight);
    cell.addEventListener('pointermove', (event) =>
      tip(event.clientX, event.clientY, [
        numberOf(weight),
        ['target ', bdi(pairOf().target[i])],
        ['source ', bdi(pairOf().source[j])],
      ]),
    );
    cell.addEventListener('pointerleave', () => tip(0, 0, null));
    return cell;
  }

  function drawMatrix() {
    const { source, target } = pairOf();
    const head = el('tr', {}, [
      el('td', { class: 'corner' }),
      ...tokens(source).map((token) => el('th', { scope: 'col' }, [el('span', { class: 'turned' }, [token])])),
    ]);
    const rows = target.map((token, i) =>
      el('tr', {}, [el('th', { scope: 'row' }, [bdi(token)]), ...source.map((_, j) => cellOf(i, j))]),
    );
    matrix.replaceChildren(
      el('table', { class: 'weights numbers' }, [
        el('caption', { class: 'unseen' }, ['Weights of the source tokens, a row for each target token']),
        el('thead', {}, [head]),
        el('tbody', {}, rows),
      ]),
    );
  }

  function draw() {
    state.pair = within(state.pair, given.pairs.length);
    const { source, target } = pairOf();
    if (state.target !== '') state.target = within(state.target, target.length);
    choiceOfPair.value = state.pair;
    sources.replaceChildren(...tokens(source).map((token) => el('span', { class: 'token' }, [token])));
    targets.replaceChildren(
      ...target.map((token, i) => button(bdi(token), () => choose(i), { class: 'token', 'aria-pressed': 'false' })),
    );
    drawMatrix();
    mark();
    writeHash(state);
  }

  const step = (by) => {
    state.pair = within(Number(state.pair) + by, given.pairs.length);
    state.target = '';
    draw();
    announce(nameOf(Number(state.pair)));
  };
  const several = given.pairs.length > 1;

  document
    .getElementById('main')
    .replaceChildren(
      pageHeader('Alignment', [bdi(given.name), `, ${given.shown}`]),
      ...(several ? [el('div', { class: 'controls' }, [field('Pair', choiceOfPair)])] : []),
      el('h2', {}, ['Target']),
      targets,
      el('h2', {}, ['Source']),
      sources,
      summary,
      el('h2', {}, ['Weights']),
      matrix,
      shortcuts(
        several ? [{ keys: ['[', ']'], does: 'previous, next pair', run: (key) => step(key === ']' ? 1 : -1) }] : [],
      ),
      pageFooter(
        [
          'Rows are target tokens, columns source tokens; a row sums to 1, and the last one predicts the end of the ' +
            'text. A stronger shade is more; numbers are those of at least .30, and others are at the pointer.',
        ],
        given.generator,
      ),
    );
  draw();
  onTheme(draw);
  document.getElementById('main').setAttribute('aria-busy', 'false');
}
