// Heads as coloured tiles with their number and, beside it, how their lines are drawn. With SEVERAL, each is switched
// by itself and Shift leaves only it; otherwise one is chosen.
function headTiles(several) {
  const row = el('div', {
    class: 'tiles',
    role: 'group',
    'aria-label': several ? 'Heads that are shown' : 'Head',
    onkeydown: walk,
  });
  const frame = el('div', { class: 'tile-row' }, [row]);
  if (several) {
    frame.append(
      button('All', () => update({ heads: everyHead }), { class: 'small', 'aria-label': 'All heads' }),
      button('None', () => update({ heads: [] }), { class: 'small', 'aria-label': 'None of the heads' }),
    );
  }
  let tiles = [];

  function build(count) {
    tiles = Array.from({ length: count }, (_, head) => {
      const { name, dash } = stroke(head);
      const sample = svgElement('svg', { viewBox: '0 0 36 4', 'aria-hidden': 'true' }, [
        svgElement('line', { x1: 1, x2: 35, y1: 2, y2: 2, 'stroke-dasharray': dash.join(' ') || null }),
      ]);
      return el(
        'button',
        {
          type: 'button',
          class: 'tile',
          tabindex: -1,
          title: several ? 'Shift: only this head' : null,
          'aria-label': `Head ${head + 1}, ${name}`,
          onclick: (event) => press(head, event.shiftKey),
        },
        [el('span', { 'aria-hidden': 'true' }, [String(head + 1)]), sample],
      );
    });
    row.replaceChildren(...tiles);
  }

  function press(head, alone) {
    if (!several) return update({ head });
    const shown = shownHeads();
    if (alone) return update({ heads: [head], head });
    const heads = shown.includes(head) ? shown.filter((each) => each !== head) : [...shown, head].sort((a, b) => a - b);
    update({ heads: heads.length === tiles.length ? everyHead : heads, head });
  }

  function walk(event) {
    const at = tiles.indexOf(document.activeElement);
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: tiles.length - 1,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    reach(Math.min(Math.max(to, 0), tiles.length - 1)).focus();
  }
  function reach(head) {
    tiles.forEach((tile, i) => {
      tile.tabIndex = i === head ? 0 : -1;
    });
    return tiles[head];
  }

  function show() {
    const { heads } = currentGroup().layers[state.layer];
    if (tiles.length !== heads) build(heads);
    const shown = several ? shownHeads() : [state.head];
    tiles.forEach((tile, head) => {
      const pressed = shown.includes(head);
      const { variable } = stroke(head);
      tile.setAttribute('aria-pressed', pressed);
      tile.style.borderColor = `var(${variable})`;
      tile.style.background = pressed ? `var(${variable})` : '';
      tile.style.color = pressed ? textOn(rgb(variable)) : '';
      tile.style.setProperty('--stroke', pressed ? 'currentColor' : `var(${variable})`);
    });
    reach(
      Math.max(0, tiles.indexOf(document.activeElement), tiles.indexOf(document.activeElement) < 0 ? state.head : 0),
    );
  }
  return { frame, show };
}
