// The matrix of one head.
function matrixView(group) {
  const tiles = headTiles(false);
  const shading = shadingControl();
  const links = linksPanel(group);
  const readout = el('p', { class: 'readout numbers' });
  const summary = el('p', { class: 'quiet' });
  let weights = null;
  const pairLines = (i, j) => linesOfPair(group, i, j, cellText(group, weights, state.head, i, j));
  const matrix = new Matrix({
    label: 'Weights: arrow keys go from cell to cell, Enter shows the vectors of the pair',
    rows: group.query.tokens,
    columns: group.key.tokens,
    says: pairLines,
    pick: (query, key) => update({ query, key }),
    enter: () => update({ view: 'neurons' }),
  });
  const frame = el('div', { class: 'with-side' }, [
    el('div', {}, [
      tiles.frame,
      el('div', { class: 'row' }, [shading.frame, matrix.tools]),
      readout,
      matrix.frame,
      summary,
    ]),
    links.frame,
  ]);

  function show(layerWeights) {
    weights = layerWeights;
    tiles.show();
    shading.show();
    const { head } = state;
    const { query, key } = chosenOf(group);
    readout.replaceChildren(...pairReadout(group, query, key, () => cellText(group, weights, head, query, key)));
    matrix.show({
      byte: (i, j) => (group.allows(i, j) ? weights.at(head, i, j) : -1),
      isBroken: weights.broken && ((i, j) => weights.isBroken(head, i, j)),
      shading: state.shading,
      picked: { row: query, column: key },
      rowMarks: marks(group.query),
      columnMarks: marks(group.key),
    });
    links.show(weights, [head], { query });
    const broken = weights.countBroken(head);
    summary.replaceChildren(
      broken
        ? el('span', { class: 'warning' }, [`${counted(broken, 'weight is', 'weights are')} not finite, and hatched. `])
        : '',
      broken
        ? 'Rows are queries, columns are keys.'
        : `Rows are queries, columns are keys; a row sums to 1. ${habitSentence(weights.habits(head))}`,
    );
  }
  return {
    frame,
    show,
    recolour: () => {
      tiles.show();
      shading.show();
      matrix.redraw();
    },
    end: () => matrix.end(),
    reveal: (side, position) => matrix.reveal(side === 'query' ? position : null, side === 'key' ? position : null),
  };
}

function cellText(group, weights, head, query, key) {
  if (!group.allows(query, key)) return 'masked: a later token';
  const byte = weights.at(head, query, key);
  const broken = weights.isBroken(head, query, key);
  return broken ? 'not finite' : `${weightText(byte)} (${byte}/255)`;
}
function linesOfPair(group, query, key, value) {
  return [
    value,
    ['query ', String(query + 1), ' ', tokenNode(group.query.tokens[query])],
    ['key ', String(key + 1), ' ', tokenNode(group.key.tokens[key])],
  ];
}
function pairReadout(group, query, key, value) {
  if (query === null || key === null)
    return [el('span', { class: 'quiet' }, ['Point at a cell, or choose one with a click or the arrow keys.'])];
  return [
    'query ',
    String(query + 1),
    ' ',
    el('strong', {}, [tokenNode(group.query.tokens[query])]),
    ' → key ',
    String(key + 1),
    ' ',
    el('strong', {}, [tokenNode(group.key.tokens[key])]),
    ': ',
    el('strong', {}, [value()]),
  ];
}
