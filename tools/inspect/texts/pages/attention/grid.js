// All heads of all layers as thumbnails: a row for each layer. They are drawn while the browser has time, the layer
// that is shown first; a thumbnail of a long text has the greatest weight of the cells that share a pixel.
function gridView(group) {
  const most = 96;
  const [rows, columns] = [Math.min(group.queries, most), Math.min(group.keys, most)];
  const shading = shadingControl();
  const progress = el('p', { class: 'quiet numbers' });
  const cells = group.layers.map((layer, index) =>
    Array.from({ length: layer.heads }, (_, head) => cellOf(layer, index, head)),
  );
  const grid = el(
    'div',
    {
      class: 'grid',
      role: 'grid',
      'aria-label': 'Heads: a row for each layer; arrow keys move, Enter shows the head',
      style: `--heads: ${group.mostHeads}`,
      onkeydown: walk,
    },
    [
      el('div', { role: 'row', class: 'grid-row' }, [
        el('div', { role: 'columnheader', class: 'corner quiet' }, ['Layer']),
        ...Array.from({ length: group.mostHeads }, (_, i) =>
          el(
            'div',
            { role: 'columnheader', class: 'quiet numbers' },
            i === 0 ? [el('span', { class: 'head-word' }, ['Head ']), '1'] : [String(i + 1)],
          ),
        ),
      ]),
      ...group.layers.map((layer, index) =>
        el('div', { role: 'row', class: 'grid-row' }, [
          el('div', { role: 'rowheader', class: 'corner quiet numbers', title: layer.name }, [String(layer.number)]),
          ...cells[index].map(({ frame }) => frame),
        ]),
      ),
    ],
  );
  const frame = el('div', {}, [shading.frame, el('div', { class: 'scrolls grid-box' }, [grid]), progress]);
  let ended = false;
  let drawing = false;

  function cellOf(layer, index, head) {
    const canvas = el('canvas', { width: columns || 1, height: rows || 1 });
    const caption = el('span', { class: 'habit numbers', 'aria-hidden': 'true' });
    const cell = el(
      'div',
      {
        role: 'gridcell',
        class: 'thumbnail',
        tabindex: -1,
        'data-layer': index,
        'data-head': head,
        'aria-label': `Layer ${layer.number}, head ${head + 1}`,
        onclick: () => open(index, head),
        onpointermove: (event) => {
          if (event.pointerType === 'mouse')
            tip(event.clientX, event.clientY, [
              `Layer ${layer.number}, head ${head + 1}`,
              pooledOf(index, head)?.sentence ?? '',
            ]);
        },
        onpointerleave: () => tip(0, 0, null),
      },
      [canvas, caption],
    );
    canvas.style.aspectRatio = Math.min(2, Math.max(0.5, group.keys / (group.queries || 1)));
    return { frame: cell, canvas, caption };
  }

  function open(layer, head) {
    tip(0, 0, null);
    update({ view: 'heads', layer, head, heads: [head] });
  }

  function walk(event) {
    const at = event.target.closest('.thumbnail');
    if (!at) return;
    const [layer, head] = [Number(at.dataset.layer), Number(at.dataset.head)];
    const [downwards, along] = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      Home: [0, -head],
      End: [0, group.mostHeads],
    }[event.key] ?? [null, null];
    if (event.key === 'Enter' || event.key === ' ') open(layer, head);
    else if (along === null) return;
    else {
      const to = Math.min(Math.max(layer + downwards, 0), cells.length - 1);
      focus(to, Math.min(Math.max(head + along, 0), cells[to].length - 1));
    }
    event.preventDefault();
  }
  function focus(layer, head) {
    reach(layer, head);
    cells[layer][head].frame.focus();
    cells[layer][head].frame.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  function reach(layer, head) {
    for (const cell of cells.flat()) cell.frame.tabIndex = -1;
    cells[layer][head].frame.tabIndex = 0;
  }

  function pooledOf(layer, head) {
    return group.pooled.get(`${state.by}/${layer}/${head}`);
  }

  // The weights of a head, at most MOST x MOST of them, and what the head does.
  function pool(weights, head) {
    const bytes = new Uint8Array(rows * columns);
    const broken = new Uint8Array(rows * columns);
    for (let i = 0; i < group.queries; ++i) {
      const row = Math.floor((i * rows) / group.queries) * columns;
      for (let j = 0; j < group.allowed(i); ++j) {
        const at = row + Math.floor((j * columns) / group.keys);
        const weight = weights.at(head, i, j);
        if (weight > bytes[at]) bytes[at] = weight;
        if (weights.broken && weights.isBroken(head, i, j)) broken[at] = 1;
      }
    }
    const habits = weights.habits(head);
    const count = weights.countBroken(head);
    return {
      bytes,
      broken,
      label: count ? 'not finite' : habitLabel(habits),
      sentence: count ? `${counted(count, 'weight', 'weights')} not finite.` : habitSentence(habits),
    };
  }

  function paint(layer, head) {
    const pooled = pooledOf(layer, head);
    if (!pooled || !rows || !columns) return;
    const { canvas, caption, frame: cell } = cells[layer][head];
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const colours = shades(state.shading);
    const [red, green, blue] = rgb('--warning');
    const warning = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    pooled.bytes.forEach((byte, at) => {
      const striped = pooled.broken[at] && (Math.floor(at / columns) + (at % columns)) % 2 === 0;
      pixels[at] = striped ? warning : colours[byte];
    });
    canvas.getContext('2d').putImageData(image, 0, 0);
    caption.textContent = pooled.label;
    cell.setAttribute(
      'aria-label',
      `Layer ${group.layers[layer].number}, head ${head + 1}${pooled.label && ', ' + pooled.label}. ${pooled.sentence}`,
    );
    cell.dataset.drawn = 'true';
  }

  async function drawAll() {
    if (drawing) return;
    drawing = true;
    const order = group.layers.map((_, i) => i).sort((a, b) => Math.abs(a - state.layer) - Math.abs(b - state.layer));
    for (const [done, layer] of order.entries()) {
      const { by } = state;
      if (!pooledOf(layer, 0)) {
        await new Promise(idle);
        if (ended) return;
        const weights = await group.weights(layer, by);
        for (let head = 0; head < weights.heads; ++head) {
          group.pooled.set(`${by}/${layer}/${head}`, pool(weights, head));
        }
      }
      if (ended) return;
      cells[layer].forEach((_, head) => paint(layer, head));
      progress.textContent =
        done + 1 < order.length ? `${done + 1} of ${counted(order.length, 'layer', 'layers')} drawn` : '';
    }
    drawing = false;
    grid.dataset.complete = 'true';
  }

  function show() {
    shading.show();
    cells.forEach((row, layer) =>
      row.forEach(({ frame: cell }, head) => {
        const chosen = layer === state.layer && head === state.head;
        cell.setAttribute('aria-selected', chosen);
        paint(layer, head);
      }),
    );
    if (!grid.contains(document.activeElement)) reach(state.layer, state.head);
    drawAll().catch(failed);
  }
  return {
    frame,
    show,
    recolour: show,
    reveal: () => {},
    end: () => {
      ended = true;
      tip(0, 0, null);
    },
  };
}
