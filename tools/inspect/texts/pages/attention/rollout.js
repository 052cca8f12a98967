// Rollout: what attention adds up to over the layers, from the first to the one that is shown.
function rolloutView(group) {
  if (!group.packedRollout) {
    const reason = group.within
      ? 'This page has no rollout of this attention.'
      : 'Rollout multiplies the attention of layers, which takes attention within one text; here one text attends ' +
        'to another.';
    return { frame: el('p', { class: 'explains' }, [reason]), show() {}, recolour() {}, reveal() {}, end() {} };
  }
  const shading = shadingControl();
  const links = linksPanel(group, 'Strongest contributions');
  const readout = el('p', { class: 'readout numbers' });
  const about = el('p', { class: 'quiet' });
  let weights = null;
  let overLayers = [];
  const matrix = new Matrix({
    label: 'Rollout: arrow keys go from cell to cell',
    rows: group.query.tokens,
    columns: group.key.tokens,
    says: (i, j) => linesOfPair(group, i, j, cellText(group, weights, 0, i, j)),
    pick: (query, key) => update({ query, key }),
  });
  const history = new Matrix({
    label: 'Rollout of one query, a row for each layer: arrow keys go from cell to cell',
    rows: group.layers.map((layer) => ({ label: `layer ${layer.number}` })),
    columns: group.key.tokens,
    says: (layer, key) => [
      weightText(overLayers[layer].at(0, chosenOf(group).query ?? 0, key)),
      `layers 1 to ${group.layers[layer].number}`,
      ['key ', String(key + 1), ' ', tokenNode(group.key.tokens[key])],
    ],
    pick: (layer, key) => update({ layer, key, query: chosenOf(group).query ?? 0 }),
  });
  const historyName = el('h2');
  const frame = el('div', { class: 'with-side' }, [
    el('div', {}, [
      el('div', { class: 'row' }, [shading.frame, matrix.tools]),
      readout,
      matrix.frame,
      about,
      historyName,
      history.frame,
    ]),
    links.frame,
  ]);

  async function show() {
    weights = await group.rollout(state.layer);
    overLayers = await Promise.all(group.layers.map((_, layer) => group.rollout(layer)));
    shading.show();
    const { layer } = state;
    const { query, key } = chosenOf(group);
    const isShown = (i, j) => group.allows(i, j) && !(i === j && state.hide.includes('self'));
    const byteOf = (from, i, j) => (isShown(i, j) ? from.at(0, i, j) : -1);
    readout.replaceChildren(...pairReadout(group, query, key, () => cellText(group, weights, 0, query, key)));
    matrix.show({
      byte: (i, j) => byteOf(weights, i, j),
      isBroken: null,
      shading: state.shading,
      picked: { row: query, column: key },
      rowMarks: marks(group.query),
      columnMarks: marks(group.key),
    });
    const chosen = query ?? group.queries - 1;
    history.show({
      byte: (i, j) => byteOf(overLayers[i], chosen, j),
      isBroken: null,
      shading: state.shading,
      picked: { row: layer, column: key },
      columnMarks: marks(group.key),
    });
    historyName.replaceChildren(
      'Layer by layer: query ',
      String(chosen + 1),
      ' ',
      tokenNode(group.query.tokens[chosen]),
    );
    const [from, to] = [group.layers[0].number, group.layers[layer].number];
    about.textContent =
      (layer === 0
        ? `Layer ${from}: its weights, as the mean over heads and with the residual connection as the other half`
        : `Layers ${from} to ${to}: their weights, as means over heads and with the residual connection as the other ` +
          'half, multiplied') + ' (Abnar and Zuidema 2020). A row sums to 1.';
    links.show(weights, [0], { query }, true);
  }
  return {
    frame,
    show,
    recolour: () => {
      shading.show();
      matrix.redraw();
      history.redraw();
    },
    end: () => {
      matrix.end();
      history.end();
    },
    reveal: (side, position) => matrix.reveal(side === 'query' ? position : null, side === 'key' ? position : null),
  };
}
