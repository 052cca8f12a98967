// Lines that are drawn together, and those that are dashed: a browser draws them in a moment, and dashes cost most.
const mostLines = 15000;
const mostDashed = 2000;

// The head view: queries on the left, keys on the right, and a line for each weight, as strong as the weight is great.
// The token under the pointer or with the focus, or else those that were clicked, keeps only its lines.
function linesView(group) {
  const tiles = headTiles(true);
  const least = el('input', {
    type: 'range',
    min: 0,
    max: 50,
    step: 1,
    'aria-label': 'Least weight that has a line, in percent',
    oninput: () => update({ least: Number(least.value) }),
  });
  const leastText = el('output', { class: 'numbers' });
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const sides = { query: column('query', group.query), key: column('key', group.key) };
  const stage = el('div', { class: 'stage' }, [canvas, sides.query.list, sides.key.list]);
  const meaning = el('span', { class: 'quiet' });
  const summary = el('p', { class: 'quiet numbers', id: 'lines-summary' });
  const links = linksPanel(group);
  links.frame.addEventListener('focusout', (event) => {
    if (!links.frame.contains(event.relatedTarget)) light(null);
  });
  const everything = button('All tokens', () => update({ query: null, key: null }), { class: 'small' });
  const frame = el('div', { class: 'with-side' }, [
    el('div', {}, [
      tiles.frame,
      el('div', { class: 'row once' }, [
        el('label', { class: 'field least' }, [el('span', { class: 'name' }, ['Lines from']), least, leastText]),
        everything,
      ]),
      el('div', { class: 'stage-heading quiet' }, [
        el('span', {}, [sideName(group, 'query')]),
        meaning,
        el('span', {}, [sideName(group, 'key')]),
      ]),
      stage,
      summary,
    ]),
    links.frame,
  ]);

  let weights = null;
  let heads = [];
  let lit = null; // {side, position} under the pointer or with the focus
  let segments = null;
  let floor = 0;
  let drawn = [0, 0]; // the part of the stage that the canvas has, in pixels
  const redraw = onceAFrame(draw);

  function column(side, text) {
    const rows = text.tokens.map((token) =>
      el(
        'div',
        {
          class: 'token',
          role: 'option',
          tabindex: -1,
          'aria-selected': 'false',
          title: token.label,
          'data-position': token.position,
        },
        [
          el('span', { class: 'position numbers' }, [String(token.position + 1)]),
          el('span', { class: 'label' }, [tokenNode(token)]),
          el('span', { class: 'value numbers' }),
        ],
      ),
    );
    const list = el(
      'div',
      {
        class: `column ${side}`,
        role: 'listbox',
        'aria-label': `${side === 'query' ? 'Queries' : 'Keys'}: tokens of ${text.name}`,
      },
      rows,
    );
    const at = (event) => {
      const row = event.target.closest('.token');
      return row ? { side, position: Number(row.dataset.position) } : null;
    };
    list.addEventListener('pointerover', (event) => {
      if (event.pointerType === 'mouse') light(at(event));
    });
    list.addEventListener('pointerleave', (event) => {
      if (event.pointerType === 'mouse') light(focused());
    });
    list.addEventListener('focusin', (event) => {
      const token = at(event);
      if (token && event.target.matches(':focus-visible')) {
        light(token);
        speak(token);
      }
    });
    // The links of a token stay while the focus moves to them.
    list.addEventListener('focusout', (event) => {
      if (!links.frame.contains(event.relatedTarget)) light(null);
    });
    list.addEventListener('click', (event) => {
      const token = at(event);
      if (token) pin(token);
    });
    list.addEventListener('keydown', (event) => walk(event, at(event)));
    return { list, rows, values: rows.map((row) => row.lastChild), text };
  }

  function focused() {
    const row = document.activeElement?.closest?.('.token');
    if (!row?.matches(':focus-visible')) return null;
    return { side: sides.query.list.contains(row) ? 'query' : 'key', position: Number(row.dataset.position) };
  }

  function walk(event, token) {
    if (!token) return;
    const { rows } = sides[token.side];
    const other = token.side === 'query' ? 'key' : 'query';
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -rows.length, End: rows.length }[
      event.key
    ];
    if (step !== undefined) {
      focus(token.side, token.position + step);
    } else if (event.key === (token.side === 'query' ? 'ArrowRight' : 'ArrowLeft')) {
      focus(other, token.side === 'query' ? strongestKey(token.position) : token.position);
    } else if (event.key === 'Enter' || event.key === ' ') {
      pin(token);
    } else {
      return;
    }
    event.preventDefault();
  }

  function focus(side, position) {
    const { rows } = sides[side];
    if (!rows.length) return;
    const row = rows[Math.min(Math.max(position, 0), rows.length - 1)];
    for (const each of rows) each.tabIndex = each === row ? 0 : -1;
    row.focus();
    row.scrollIntoView({ block: 'nearest' });
  }

  function strongestKey(query) {
    return weights?.strongest(heads, 1, { query })[0]?.key ?? query;
  }

  function pin({ side, position }) {
    const same = state[side] === position;
    update({ [side]: same ? null : position });
  }

  function light(token) {
    if (lit?.side === token?.side && lit?.position === token?.position) return;
    lit = token;
    showTokens();
  }

  // {query, key} whose lines are shown; both null for all.
  function filter() {
    if (lit) return { query: null, key: null, [lit.side]: lit.position };
    return chosenOf(group);
  }

  function speak({ side, position }) {
    const token = sides[side].text.tokens[position];
    const found = weights.strongest(heads, 3, { [side]: position }).map((link) => {
      const other = side === 'query' ? group.key.tokens[link.key] : group.query.tokens[link.query];
      return `${tokenText(other)} ${weightText(link.weight)}${heads.length > 1 ? ` in head ${link.head + 1}` : ''}`;
    });
    announce(
      `${tokenText(token)} ${side === 'query' ? 'attends to' : 'is attended to by'} ${found.join(', ') || 'nothing'}`,
    );
  }

  function show(layerWeights) {
    weights = layerWeights;
    heads = shownHeads();
    tiles.show();
    least.value = leastPercent();
    leastText.value = `${leastPercent()} %`;
    segments = null;
    showTokens();
  }

  // Everything that depends on the filter.
  function showTokens() {
    if (!weights) return;
    const { query, key } = filter();
    everything.disabled = state.query === null && state.key === null;
    const one = heads.length === 1;
    meaning.textContent =
      (query === null && key === null) || !heads.length
        ? 'attends to'
        : one
          ? 'weights'
          : `mean weights of ${heads.length} heads`;
    fill('key', query, (j) => (group.allows(query, j) ? meanText(weights.mean(heads, query, j)) : ''));
    fill('query', query === null ? key : null, (i) =>
      group.allows(i, key) ? meanText(weights.mean(heads, i, key)) : '',
    );
    for (const side of ['query', 'key']) {
      const chosen = { query, key }[side];
      const found = marks(sides[side].text);
      sides[side].rows.forEach((row, i) => {
        row.classList.toggle('lit', i === chosen);
        row.setAttribute('aria-selected', i === state[side]);
        row.classList.toggle('hit', found.tokens.has(i));
        row.classList.toggle('current-hit', found.current.has(i));
      });
      if (!sides[side].rows.some((row) => row.tabIndex === 0) && sides[side].rows.length)
        sides[side].rows[0].tabIndex = 0;
    }
    links.show(weights, heads, { query, key });
    redraw();
  }

  function fill(side, partner, text) {
    sides[side].values.forEach((value, i) => {
      value.textContent = partner === null || !heads.length ? '' : text(i);
    });
  }

  // All lines of the heads, as [head, query, key, weight, …], and the least weight of those that are drawn together.
  function collected() {
    if (segments) return segments;
    segments = [];
    const bound = Math.max(1, leastPercent() * 2.55);
    let brokenCount = 0;
    for (const head of heads) {
      for (let i = 0; i < group.queries; ++i) {
        for (let j = 0; j < group.keys; ++j) {
          const weight = weights.at(head, i, j);
          const broken = weights.isBroken(head, i, j) && ++brokenCount <= mostLines;
          if (broken || (weight >= bound && !isHidden(group, i, j))) segments.push(head, i, j, weight);
        }
      }
    }
    const counts = new Uint32Array(256);
    for (let s = 3; s < segments.length; s += 4) ++counts[segments[s]];
    let total = 0;
    for (floor = 255; floor > 0 && total + counts[floor] <= mostLines; --floor) total += counts[floor];
    return segments;
  }

  function draw() {
    if (!weights || !stage.isConnected) return;
    const box = stage.getBoundingClientRect();
    const margin = innerHeight / 2;
    const top = Math.max(0, Math.floor(-box.top - margin));
    const height = Math.max(1, Math.min(box.height, -box.top + innerHeight + margin) - top);
    drawn = [top, top + height];
    const context = sized(canvas, box.width, height);
    canvas.style.top = `${top}px`;
    context.translate(0, -top);
    const rowHeight =
      (sides.query.list.offsetHeight || sides.key.list.offsetHeight) /
      ((sides.query.list.offsetHeight ? group.queries : group.keys) || 1);
    const from = sides.query.list.offsetWidth;
    const to = box.width - sides.key.list.offsetWidth;
    const { query, key } = filter();
    shadeRows(context, rowHeight, from, to, query, key, box.width);
    const { count, left } = drawLines(context, rowHeight, from, to, query, key);
    summarise(count, left);
  }

  function summarise(count, left) {
    if (!heads.length) return summary.replaceChildren('No head is chosen.');
    const drawn = left ? `, of which the strongest ${(count - left).toLocaleString('en')} are drawn` : '';
    const broken = heads.reduce((sum, head) => sum + weights.countBroken(head), 0);
    const warning = `${counted(broken, 'weight is', 'weights are')} not finite; their lines are dotted. `;
    const habits = heads.length === 1 && !broken ? habitSentence(weights.habits(heads[0])) : '';
    summary.replaceChildren(
      `${counted(count, 'line', 'lines')} of at least ${leastPercent()} %${drawn}. `,
      count || !leastPercent() ? '' : 'Lower the bound for weaker ones. ',
      broken ? el('span', { class: 'warning' }, [warning]) : '',
      habits && `Head ${heads[0] + 1}: ${habits[0].toLowerCase()}${habits.slice(1)}`,
    );
  }

  // Under the tokens of the other side, a strip for each head, as strong as its weight.
  function shadeRows(context, rowHeight, from, to, query, key, width) {
    if ((query === null && key === null) || !heads.length) return;
    const [x, room, count] = query !== null ? [to, width - to, group.keys] : [0, from, group.queries];
    heads.forEach((head, at) => {
      const colour = rgb(stroke(head).variable);
      for (let i = 0; i < count; ++i) {
        const weight = query !== null ? weights.at(head, query, i) : weights.at(head, i, key);
        if (!weight) continue;
        context.fillStyle = css(colour, (0.3 * weight) / 255);
        context.fillRect(x + (at * room) / heads.length, i * rowHeight + 1, room / heads.length, rowHeight - 2);
      }
    });
  }

  // Draws the lines that cross what the canvas shows; returns how many there are in all. Lines of about the same weight
  // are one path: strong lines come last.
  function drawLines(context, rowHeight, from, to, query, key) {
    const levels = 12;
    const paths = new Map();
    const all = collected();
    const middle = (from + to) / 2;
    const apart = Math.min(2.5, (0.6 * rowHeight) / heads.length); // lines of different heads lie side by side
    const offsets = new Map(heads.map((head, at) => [head, (at - (heads.length - 1) / 2) * apart]));
    const together = query === null && key === null;
    let [count, left, inSight] = [0, 0, 0];
    for (let s = 0; s < all.length; s += 4) {
      const [head, i, j, weight] = [all[s], all[s + 1], all[s + 2], all[s + 3]];
      if ((query !== null && i !== query) || (key !== null && j !== key)) continue;
      const broken = weights.isBroken(head, i, j);
      if (!broken) ++count;
      if (together && !broken && weight <= floor) {
        ++left;
        continue;
      }
      const [y, z] = [i, j].map((row) => (row + 0.5) * rowHeight + offsets.get(head));
      if (Math.max(y, z) < drawn[0] || Math.min(y, z) > drawn[1]) continue;
      ++inSight;
      const level = broken ? levels : Math.min(levels - 1, Math.floor((weight / 256) * levels));
      const name = level * 4096 + head;
      let path = paths.get(name);
      if (!path) paths.set(name, (path = new Path2D()));
      path.moveTo(from + 2, y);
      path.bezierCurveTo(middle, y, middle, z, to - 2, z);
    }
    const least = !together ? 0.55 : inSight > mostDashed ? 0.07 : 0.15;
    for (const name of [...paths.keys()].sort((a, b) => a - b)) {
      const [level, head] = [Math.floor(name / 4096), name % 4096];
      const strength = Math.min(1, (level + 0.5) / levels);
      const { variable, dash } = stroke(head);
      const broken = level === levels;
      context.setLineDash(broken ? [1.5, 4] : heads.length > 1 && inSight <= mostDashed ? dash : []);
      context.lineWidth = broken ? 1.5 : 0.9 + 2.6 * strength;
      context.strokeStyle = css(rgb(broken ? '--warning' : variable), broken ? 0.9 : least + (1 - least) * strength);
      context.stroke(paths.get(name));
    }
    return { count, left };
  }

  const scrolled = () => {
    const box = stage.getBoundingClientRect();
    const [first, last] = [Math.max(0, -box.top), Math.min(box.height, -box.top + innerHeight)];
    if (first < drawn[0] || last > drawn[1]) redraw();
  };
  addEventListener('scroll', scrolled, { passive: true });
  const sizes = new ResizeObserver(redraw);
  sizes.observe(stage);

  return {
    frame,
    show,
    recolour: () => {
      tiles.show();
      redraw();
    },
    reveal: (side, position) => sides[side].rows[position]?.scrollIntoView({ block: 'center' }),
    end: () => {
      removeEventListener('scroll', scrolled);
      sizes.disconnect();
    },
  };
}

function sideName(group, side) {
  const name = side === 'query' ? 'Query' : 'Key';
  return group.within ? name : `${name}: ${isolated(group[side].name)}`;
}

// What the search found in a text, as positions: all of it, and the hit that the search is at.
function marks(text) {
  const tokens = new Set();
  const current = new Set();
  search.found.forEach(({ text: owner, first, last }, i) => {
    if (owner !== text) return;
    for (let at = first; at <= last; ++at) {
      tokens.add(at);
      if (i === search.at) current.add(at);
    }
  });
  return { tokens, current };
}
