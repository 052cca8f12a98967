// The neuron view: how the weight of one pair comes about. The query's vector, the key's, their product in each
// dimension, its sum, the score, and the softmax of the query's row.
function neuronsView(group) {
  const tiles = headTiles(false);
  const select = (side) =>
    el(
      'select',
      { 'aria-label': side, onchange: (event) => update({ [side]: Number(event.target.value) }) },
      group[side].tokens.map((token) =>
        el('option', { value: token.position }, [
          `${token.position + 1}  ${isolated(token.label === '' ? 'empty' : token.label)}`,
        ]),
      ),
    );
  const selects = { query: select('query'), key: select('key') };
  const strips = ['query', 'key', 'product'].map((name) => stripOf(name));
  const equation = el('p', { class: 'equation numbers' });
  const note = el('p', { class: 'quiet', id: 'neurons-note' });
  const body = el('tbody');
  const vectorColumns = ['q∘k', 'q·k', 'score'].map((name) =>
    el('th', { scope: 'col', class: name === 'q∘k' ? 'wide' : 'numbers' }, [name]),
  );
  const rowName = el('h2');
  const table = el('table', { class: 'row-table' }, [
    el('thead', {}, [
      el('tr', {}, [
        el('th', { scope: 'col' }, ['Key']),
        ...vectorColumns,
        el('th', { scope: 'col', class: 'numbers' }, ['Weight']),
        el('th', { scope: 'col', class: 'wide' }, [el('span', { class: 'unseen' }, ['Bar'])]),
      ]),
    ]),
    body,
  ]);
  const maskedNote = el('p', { class: 'quiet' });
  const missing = el('p', { class: 'explains' }, [
    'The vectors of queries and keys are not in this page: only the weights of the row can be shown.',
  ]);
  const stripBox = el(
    'div',
    { class: 'strips' },
    strips.map(({ frame }) => frame),
  );
  const signs = el('p', { class: 'quiet' }, [
    'A bar upwards is positive, one downwards is negative; its colour says the same.',
  ]);
  const frame = el('div', {}, [
    tiles.frame,
    el('div', { class: 'row pair' }, [field('Query', selects.query), field('Key', selects.key)]),
    missing,
    stripBox,
    signs,
    equation,
    note,
    rowName,
    el('div', { class: 'scrolls' }, [table]),
    maskedNote,
  ]);
  let shown = null;
  const visible = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) drawSmall(target);
    },
    { rootMargin: '2000px' },
  );
  const sizes = new ResizeObserver(onceAFrame(() => drawStrips()));
  sizes.observe(stripBox);

  // The pair that is shown: where none was chosen, the last query and its strongest key.
  function pairOf(weights) {
    const chosen = chosenOf(group);
    const query = chosen.query ?? group.queries - 1;
    const allowed = chosen.key !== null && group.allows(query, chosen.key) ? chosen.key : null;
    return { query, key: allowed ?? weights.strongest([state.head], 1, { query })[0]?.key ?? 0 };
  }

  async function show(weights) {
    const vectors = await group.vectors(state.layer);
    const { query, key } = pairOf(weights);
    const { head } = state;
    tiles.show();
    selects.query.value = query;
    selects.key.value = key;
    [...selects.key.options].forEach((option, j) => {
      option.disabled = !group.allows(query, j);
    });
    for (const part of [stripBox, signs, equation]) part.hidden = !vectors;
    for (const part of vectorColumns) part.hidden = !vectors;
    missing.hidden = Boolean(vectors);
    shown = { weights, vectors, query, key, head, q: vectors?.query(head, query), k: vectors?.key(head, key) };
    if (vectors) shown.product = shown.q.map((value, d) => value * shown.k[d]);
    const scores = scoresOf();
    showEquation(scores);
    showRow(scores);
    drawStrips();
  }

  // q·k and score of all keys that the query may attend to, and the softmax of the scores.
  function scoresOf() {
    const { vectors, query, head, q } = shown;
    if (!vectors) return null;
    const dots = Array.from({ length: group.allowed(query) }, (_, j) =>
      vectors.key(head, j).reduce((sum, value, d) => sum + value * q[d], 0),
    );
    const greatest = Math.max(...dots.map((dot) => dot * vectors.scale));
    const powers = dots.map((dot) => Math.exp(dot * vectors.scale - greatest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return { dots, softmax: powers.map((power) => power / total), finite: Number.isFinite(total) };
  }

  function showEquation(scores) {
    const { weights, vectors, query, key, head } = shown;
    note.textContent = '';
    if (!scores) return;
    const dot = scores.dots[key];
    const step = (name, value, kind = '') =>
      el('span', { class: 'step', 'data-step': kind }, [
        el('span', { class: 'quiet' }, [name]),
        el('strong', {}, [value]),
      ]);
    equation.replaceChildren(
      step('q·k', signed(dot), 'dot'),
      el('span', {}, ['×']),
      step('scale', vectors.scale.toPrecision(3), 'scale'),
      el('span', {}, ['=']),
      step('score', signed(dot * vectors.scale), 'score'),
      el('span', {}, ['→']),
      step(
        `softmax over ${counted(scores.dots.length, 'key', 'keys')}`,
        scores.finite ? scores.softmax[key].toFixed(3) : 'not finite',
        'softmax',
      ),
      el('span', {}, ['≈']),
      step('weight', weightText(weights.at(head, query, key), weights.isBroken(head, query, key)), 'weight'),
    );
    note.textContent = noteOf(scores);
  }

  // Why the softmax of the scores and the weights differ.
  function noteOf({ softmax, finite }) {
    const { weights, vectors, query, head } = shown;
    if (!finite) return 'Some of these vectors are not finite, so neither are the scores and their softmax.';
    if (softmax.some((_, j) => weights.isBroken(head, query, j))) return 'Some weights of this row are not finite.';
    if (vectors.softmax) return 'Vectors are rounded to 8 bits, so the softmax differs a little from the weight.';
    const apart = Math.max(...softmax.map((value, j) => Math.abs(value - weights.at(head, query, j) / 255)));
    return (
      `The softmax of these scores differs from the weights by up to ${apart.toFixed(2)}: the model adds terms ` +
      'of positions to the scores, hides keys in a window, or does not use their softmax.'
    );
  }

  function showRow(scores) {
    const { weights, query, key, head } = shown;
    const found = marks(group.key);
    rowName.replaceChildren('Row of query ', String(query + 1), ' ', tokenNode(group.query.tokens[query]));
    visible.disconnect();
    keepingFocus(body, () =>
      body.replaceChildren(
        ...group.key.tokens.slice(0, group.allowed(query)).map((token, j) => {
          const weight = weights.at(head, query, j);
          const broken = weights.isBroken(head, query, j);
          const small = scores ? el('canvas', { 'data-key': j, 'aria-hidden': 'true' }) : null;
          if (small) visible.observe(small);
          return el(
            'tr',
            {
              class: [
                j === key ? 'chosen' : '',
                found.tokens.has(j) ? 'hit' : '',
                found.current.has(j) ? 'current-hit' : '',
              ].join(' '),
            },
            [
              el('th', { scope: 'row' }, [
                el(
                  'button',
                  {
                    type: 'button',
                    class: 'link',
                    'aria-pressed': j === key,
                    onclick: () => update({ query, key: j }),
                  },
                  [el('span', { class: 'position numbers' }, [String(j + 1)]), ' ', tokenNode(token)],
                ),
              ]),
              small && el('td', { class: 'wide' }, [el('div', { class: 'small-strip' }, [small])]),
              scores && el('td', { class: 'numbers' }, [signed(scores.dots[j])]),
              scores && el('td', { class: 'numbers' }, [signed(scores.dots[j] * shown.vectors.scale)]),
              el('td', { class: 'numbers' }, [weightText(weight, broken)]),
              el('td', { class: 'wide' }, [
                el('span', { class: 'bar', style: `width: ${(weight / 2.55).toFixed(1)}%`, 'aria-hidden': 'true' }),
              ]),
            ],
          );
        }),
      ),
    );
    const masked = group.keys - group.allowed(query);
    maskedNote.textContent = masked ? `${counted(masked, 'later key is', 'later keys are')} masked.` : '';
  }

  function stripOf(name) {
    const label = el('span', { class: 'strip-name' });
    const range = el('span', { class: 'quiet numbers' });
    const canvas = el('canvas', {
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'strip of values',
      'data-strip': name,
    });
    const parts = {
      name,
      label,
      range,
      canvas,
      at: 0,
      frame: el('div', { class: 'strip' }, [el('div', {}, [label, ' ', range]), canvas]),
    };
    canvas.addEventListener('pointermove', (event) => {
      if (!shown?.q) return;
      const box = canvas.getBoundingClientRect();
      const d = Math.floor(((event.clientX - box.left) / box.width) * shown.q.length);
      if (d >= 0 && d < shown.q.length) tip(event.clientX, event.clientY, dimension(d));
    });
    canvas.addEventListener('pointerleave', () => tip(0, 0, null));
    canvas.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !shown?.q) return;
      event.preventDefault();
      parts.at = Math.min(Math.max(parts.at + step, 0), shown.q.length - 1);
      const box = canvas.getBoundingClientRect();
      tip(box.left + ((parts.at + 0.5) * box.width) / shown.q.length, box.bottom - 16, dimension(parts.at));
      announce(dimension(parts.at).join(': '));
    });
    canvas.addEventListener('blur', () => tip(0, 0, null));
    return parts;
  }
  function dimension(d) {
    return [
      `dimension ${d + 1} of ${shown.q.length}`,
      `q ${signed(shown.q[d])} × k ${signed(shown.k[d])} = ${signed(shown.product[d])}`,
    ];
  }

  function drawStrips() {
    if (!shown?.vectors) return;
    const { query, key } = shown;
    const values = { query: shown.q, key: shown.k, product: shown.product };
    const names = {
      query: ['q of ', tokenNode(group.query.tokens[query])],
      key: ['k of ', tokenNode(group.key.tokens[key])],
      product: ['q∘k, whose sum is q·k'],
    };
    for (const strip of strips) {
      const greatest = greatestOf(values[strip.name]);
      strip.label.replaceChildren(...names[strip.name]);
      strip.range.textContent = `up to ±${greatest.toPrecision(2)}`;
      strip.canvas.setAttribute(
        'aria-label',
        `${strip.label.textContent}: ${counted(values[strip.name].length, 'value', 'values')}, arrow keys read them`,
      );
      drawStrip(strip.canvas, values[strip.name], strip.frame.clientWidth, 56, greatest);
    }
    for (const small of body.querySelectorAll('canvas[data-drawn]')) drawSmall(small);
  }
  function drawSmall(canvas) {
    const { vectors, head, q } = shown;
    const k = vectors.key(head, Number(canvas.dataset.key));
    const product = q.map((value, d) => value * k[d]);
    drawStrip(canvas, product, canvas.parentElement.clientWidth, 22, greatestOf(shown.product));
    canvas.dataset.drawn = 'true';
  }
  return {
    frame,
    show,
    recolour: () => {
      tiles.show();
      drawStrips();
    },
    end: () => {
      visible.disconnect();
      sizes.disconnect();
      tip(0, 0, null);
    },
    reveal: (side, position) => body.children[position]?.scrollIntoView({ block: 'center' }),
  };
}

function greatestOf(values) {
  return values.reduce((most, value) => (Number.isNaN(value) ? most : Math.max(most, Math.abs(value))), 0) || 1;
}
function signed(value) {
  if (Number.isNaN(value)) return 'not finite';
  const digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? '−' + text : text;
}

// Values as bars, up from the middle where positive and down where negative, on a ground as strong as they are great;
// hatched where they are not finite.
function drawStrip(canvas, values, width, height, greatest) {
  const context = sized(canvas, Math.max(1, width), height);
  const [positive, negative, middle] = [rgb('--positive'), rgb('--negative'), height / 2];
  const step = width / values.length;
  context.fillStyle = css(rgb('--surface'));
  context.fillRect(0, 0, width, height);
  values.forEach((value, d) => {
    if (Number.isNaN(value)) return hatch(context, d * step, 0, step, height);
    const part = Math.min(1, Math.abs(value) / greatest);
    const colour = value < 0 ? negative : positive;
    context.fillStyle = css(colour, 0.22 * part);
    context.fillRect(d * step, 0, step, height);
    context.fillStyle = css(colour);
    const size = part * (middle - 1);
    context.fillRect(
      d * step + (step > 4 ? 0.5 : 0),
      value < 0 ? middle : middle - size,
      step - (step > 4 ? 1 : 0),
      size,
    );
  });
  context.fillStyle = css(rgb('--edge'));
  context.fillRect(0, middle - 0.5, width, 1);
}
