'use strict';

// A graph as it is drawn in pictures, with the attention of one head, of all nodes or of one of them, or with what each
// node contributes to an answer.
{
  const given = data();
  const { sketch, attention, shares } = given;
  const nodes = sketch.nodes.map(([x, y, name], i) => ({ i, x, y, name, label: `${i + 1} ${name}`.trim() }));
  const state = { layer: '0', head: '0', node: '', ...readHash() };
  const shown = (weight) => (weight === null ? 'not finite' : weight.toFixed(4));
  const widest = { line: 12, ring: 6 };

  // --- the drawing ---

  const ink = '#1a1a1a';
  const line = ([x1, y1, x2, y2], properties) => svgElement('line', { x1, y1, x2, y2, ...properties });
  const drawing = () => [
    ...sketch.lines.map(([x1, y1, x2, y2, dashed]) =>
      line([x1, y1, x2, y2], {
        stroke: ink,
        'stroke-width': sketch.pen,
        'stroke-linecap': 'round',
        'stroke-dasharray': dashed ? '3.5 2.5' : null,
      }),
    ),
    ...sketch.discs.map(([cx, cy, fill]) =>
      svgElement('circle', { cx, cy, r: sketch.disc, fill, stroke: ink, 'stroke-width': sketch.pen }),
    ),
    ...sketch.signs.map(([x, y, text, fill, size]) =>
      svgElement('text', { x, y: y + 0.36 * size, fill, 'font-size': size, 'text-anchor': 'middle' }, [text]),
    ),
  ];

  // --- attention ---

  const layer = () => attention.layers[state.layer] ?? attention.layers[0];
  const head = () => layer().heads[state.head] ?? layer().heads[0];
  const chosen = () => (state.node === '' ? null : (nodes[Number(state.node)] ?? null));

  // What is drawn of each pair and node: the mean of both directions, or of the chosen node what it gives.
  function weights() {
    const from = chosen();
    const { there, back, own } = head();
    const pairs = attention.pairs.map(([a, b, isEdge, ways], p) => {
      const given = !from ? [there[p], back[p]] : from.i === a ? [there[p]] : from.i === b ? [back[p]] : [0];
      const sum = given.includes(null) ? null : given.reduce((x, y) => x + y);
      const weight = sum === null || from ? sum : sum / ways;
      return { a, b, isEdge, weight, there: there[p], back: back[p] };
    });
    const apart = pairs.filter(({ isEdge }) => !isEdge).sort((p, q) => q.weight - p.weight);
    const rings = own.map((weight, i) => ({ i, weight: !from || from.i === i ? weight : 0 }));
    return { pairs: [...pairs.filter(({ isEdge }) => isEdge), ...apart.slice(0, attention.top)], rings };
  }

  function attentionMarks() {
    const { pairs, rings } = weights();
    const most = (list) => list.reduce((largest, { weight }) => Math.max(largest, weight), 1e-12);
    const largest = { line: most(pairs), ring: most(rings) };
    const width = (weight, what) => (weight === null ? 2 : ((widest[what] * weight) / largest[what]).toFixed(3));
    const kind = (weight, name) => (weight === null ? `${name} broken` : name);
    legend.textContent = `The widest line is ${largest.line.toFixed(3)}, the widest ring ${largest.ring.toFixed(3)}. ${
      chosen()
        ? `Lines: what node ${chosen().label} gives to others; the ring: to itself.`
        : 'Lines: the mean of both directions; rings: what nodes give to themselves.'
    } Dashed: nodes that no edge joins.`;
    const strokes = pairs
      .filter(({ weight }) => weight !== 0)
      .map(({ a, b, isEdge, weight, there, back }) =>
        line([nodes[a].x, nodes[a].y, nodes[b].x, nodes[b].y], {
          class: kind(weight, isEdge ? 'along' : 'apart'),
          'stroke-width': width(weight, 'line'),
          'stroke-dasharray': isEdge ? null : '6 4',
          onpointermove: (event) =>
            tip(event.clientX, event.clientY, [
              `${nodes[a].label} and ${nodes[b].label}`,
              `${nodes[a].label} to ${nodes[b].label}: ${shown(there)}`,
              `${nodes[b].label} to ${nodes[a].label}: ${shown(back)}`,
            ]),
          onpointerleave: () => tip(0, 0, null),
        }),
      );
    const circles = rings
      .filter(({ weight }) => weight !== 0)
      .map(({ i, weight }) =>
        svgElement('circle', {
          class: 'own',
          cx: nodes[i].x,
          cy: nodes[i].y,
          r: 14,
          'stroke-width': width(weight, 'ring'),
        }),
      );
    return [...strokes, ...circles];
  }

  // The largest weights: from, to, weight.
  function attentionRows() {
    const from = chosen();
    const { there, back, own } = head();
    const rows = own.map((weight, i) => [i, i, weight]);
    attention.pairs.forEach(([a, b], p) => rows.push([a, b, there[p]], [b, a, back[p]]));
    return rows
      .filter(([a, , weight]) => weight > 0 && (!from || from.i === a))
      .sort((p, q) => q[2] - p[2])
      .slice(0, 12)
      .map(([a, b, weight]) => [nodes[a].label, nodes[b].label, shown(weight)]);
  }

  // --- contributions ---

  function shareMarks() {
    const largest = Math.max(1e-12, ...shares.of_nodes.map(Math.abs));
    const inner = sketch.discs.length ? sketch.disc : 0;
    legend.textContent = `${shares.legend}.`;
    return shares.of_nodes.map((share, i) =>
      svgElement('circle', {
        class: share > 0 ? 'raises' : 'lowers',
        cx: nodes[i].x,
        cy: nodes[i].y,
        r: (inner + (18 - inner) * Math.sqrt(Math.abs(share) / largest)).toFixed(2),
      }),
    );
  }
  const shareRows = () =>
    shares.of_nodes
      .map((share, i) => [nodes[i].label, share])
      .sort((p, q) => Math.abs(q[1]) - Math.abs(p[1]))
      .map(([label, share]) => [label, share.toFixed(4)]);

  // --- the page ---

  const legend = el('p', { class: 'quiet', role: 'status' });
  const picture = svgElement('svg', {
    class: 'graph',
    viewBox: `0 0 ${sketch.width} ${sketch.height}`,
    role: 'img',
    'aria-label': `${given.subtitle}; the table below has the numbers`,
  });
  const table = el('table', { class: 'numbers' });

  function targets() {
    return nodes.map((node) =>
      svgElement('circle', {
        class: 'node',
        cx: node.x,
        cy: node.y,
        r: 12,
        onpointermove: (event) =>
          tip(event.clientX, event.clientY, [
            node.label,
            attention ? `to itself: ${shown(head().own[node.i])}` : shares.of_nodes[node.i].toFixed(4),
          ]),
        onpointerleave: () => tip(0, 0, null),
        onclick: () => attention && choose({ node: state.node === String(node.i) ? '' : String(node.i) }),
      }),
    );
  }

  function draw() {
    const marks = attention ? attentionMarks() : shareMarks();
    const mark = attention && chosen();
    const ring = mark && svgElement('circle', { class: 'chosen', cx: mark.x, cy: mark.y, r: 20 });
    picture.replaceChildren(...marks, ...drawing(), ...(ring ? [ring] : []), ...targets());
    const names = attention ? ['from', 'to', 'weight'] : ['node', 'falls without it by'];
    const rows = attention ? attentionRows() : shareRows();
    table.replaceChildren(
      el('caption', { class: 'unseen' }, [attention ? 'The largest weights' : 'What nodes contribute']),
      el('thead', {}, [
        el(
          'tr',
          {},
          names.map((name) => el('th', { scope: 'col' }, [name])),
        ),
      ]),
      el(
        'tbody',
        {},
        rows.map((row) =>
          el(
            'tr',
            {},
            row.map((cell) => el('td', {}, [bdi(cell)])),
          ),
        ),
      ),
    );
    if (attention) writeHash(state);
  }
  const redraw = onceAFrame(draw);

  const selects = {};
  function choose(change) {
    Object.assign(state, change);
    for (const [key, select] of Object.entries(selects)) select.value = state[key];
    redraw();
  }
  function select(name, key, options) {
    selects[key] = el('select', { onchange: () => choose({ [key]: selects[key].value }) }, [
      ...options.map(([value, label]) => el('option', { value }, [label])),
    ]);
    selects[key].value = state[key];
    return field(name, selects[key]);
  }
  const step = (key, count, by) => choose({ [key]: String((Number(state[key]) + by + count) % count) });

  const controls = attention
    ? el('div', { class: 'controls' }, [
        select(
          'Layer',
          'layer',
          attention.layers.map(({ number }, i) => [String(i), String(number)]),
        ),
        select(
          'Head',
          'head',
          layer().heads.map(({ name }, i) => [String(i), name]),
        ),
        select('Attention of', 'node', [['', 'all nodes'], ...nodes.map(({ i, label }) => [String(i), label])]),
      ])
    : '';
  const keys = attention
    ? shortcuts([
        {
          keys: ['[', ']'],
          does: 'previous, next layer',
          run: (key) => step('layer', attention.layers.length, key === ']' ? 1 : -1),
        },
        {
          keys: ['j', 'k'],
          does: 'previous, next head',
          run: (key) => step('head', layer().heads.length, key === 'k' ? 1 : -1),
        },
      ])
    : '';
  document
    .getElementById('main')
    .replaceChildren(
      pageHeader(given.title, [bdi(given.subtitle)]),
      controls,
      el('div', { class: 'graph-box' }, [picture]),
      legend,
      el('h2', {}, [attention ? 'Largest weights' : 'Nodes']),
      el('div', { class: 'scrolls', tabindex: 0, role: 'region', 'aria-label': 'Numbers' }, [table]),
      keys,
      pageFooter(
        [
          attention
            ? 'A weight says how much a node takes from another one, or from itself; those of a node sum to 1. A click on a node shows what it takes alone. Weights have five digits.'
            : 'Each number is by how much the answer falls when the node is left out, with its edges.',
        ],
        given.generator,
      ),
    );
  draw();
  document.getElementById('main').setAttribute('aria-busy', 'false');
}
