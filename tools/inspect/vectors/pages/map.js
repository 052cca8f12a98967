'use strict';

// Vectors as points of the plane: colours and shapes by group, labels where there is room, search, zoom, and a list.
{
  const given = data();
  const points = given.points.map(([label, group, marked, detail], i) => ({ i, label, group, marked, detail }));
  const state = {
    layout: String(given.first),
    axes: '0,1',
    labels: '1',
    point: '',
    search: '',
    hidden: '',
    ...readHash(),
  };
  if (!given.layouts[state.layout]) state.layout = '0';
  const hidden = new Set(state.hidden.split(',').filter(Boolean).map(Number));
  let chosen = state.point === '' ? null : (points[Number(state.point)] ?? null);
  let found = [];

  const layout = () => given.layouts[state.layout];
  // The two axes that are shown, of those that there are.
  function axes() {
    const [a, b] = state.axes.split(',').map(Number);
    const count = layout().axes.length;
    return a < count && b < count && a !== b ? [a, b] : [0, 1];
  }
  const visible = () => points.filter(({ group }) => !hidden.has(group));

  // --- the plane: `view` is what part of it is shown, in its own coordinates ---

  let width = 800;
  const height = () => Math.round(Math.min(640, Math.max(360, width * 0.7)));
  const margin = { left: 28, right: 8, top: 8, bottom: 30 };
  let view = null;

  const column = (axis) => layout().coordinates[axis];
  const place = ({ i }) => {
    const [a, b] = axes();
    return [column(a)[i], column(b)[i]];
  };

  // All points, with the same scale on both axes, since distances count.
  function everything() {
    const [a, b] = axes();
    const [xs, ys] = [column(a), column(b)];
    const bounds = (values) => [values.reduce((p, q) => Math.min(p, q)), values.reduce((p, q) => Math.max(p, q))];
    const [[x0, x1], [y0, y1]] = [bounds(xs), bounds(ys)];
    const scale =
      Math.max(
        (x1 - x0) / (width - margin.left - margin.right - 48),
        (y1 - y0) / (height() - margin.top - margin.bottom - 48),
      ) || 1;
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale };
  }
  const middle = () => [(margin.left + width - margin.right) / 2, (margin.top + height() - margin.bottom) / 2];
  const screen = (point) => {
    const [x, y] = place(point);
    const [cx, cy] = middle();
    return [cx + (x - view.x) / view.scale, cy - (y - view.y) / view.scale];
  };
  const inside = ([x, y]) =>
    x >= margin.left && x <= width - margin.right && y >= margin.top && y <= height() - margin.bottom;

  // --- drawing ---

  // Groups differ in colour and shape; marked points are larger and have an edge.
  const shapes = [
    (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    (r) => `M0 ${-1.25 * r}L${1.15 * r} ${0.85 * r}L${-1.15 * r} ${0.85 * r}z`,
    (r) => `M${-0.9 * r} ${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
    (r) => `M0 ${-1.3 * r}L${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0z`,
    (r) =>
      `M${-1.2 * r} ${-0.4 * r}h${0.8 * r}v${-0.8 * r}h${0.8 * r}v${0.8 * r}h${0.8 * r}v${0.8 * r}h${-0.8 * r}v${0.8 * r}h${-0.8 * r}v${-0.8 * r}h${-0.8 * r}z`,
  ];
  const look = (group) => ({
    shape: shapes[group % shapes.length],
    variable: palette[group % palette.length].variable,
  });
  const symbol = (group, marked, properties = {}) => {
    const { shape, variable } = look(group);
    return svgElement('path', {
      d: shape(marked ? 7 : 4.5),
      fill: `var(${variable})`,
      class: marked ? 'marked' : null,
      ...properties,
    });
  };

  const picture = svgElement('svg', {
    class: 'map',
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'map of vectors',
  });
  const measure = document.createElement('canvas').getContext('2d');
  let nodes = [];

  // Labels beside, above or below their points where nothing else is; the chosen, found and marked points come first.
  function labels(shown) {
    if (!state.labels) return [];
    measure.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
    const taken = shown.map(({ at: [x, y] }) => [x - 5, y - 5, x + 5, y + 5]);
    const wanted = new Set(found);
    const order = [...shown].sort((a, b) => rank(a.point) - rank(b.point) || a.point.i - b.point.i);
    function rank(point) {
      return point === chosen ? 0 : wanted.has(point) ? 1 : point.marked ? 2 : 3;
    }
    const made = [];
    for (const {
      point,
      at: [x, y],
    } of order) {
      const text = point.label.length > 32 ? point.label.slice(0, 31) + '…' : point.label;
      if (!text.trim()) continue;
      const wide = measure.measureText(text).width;
      const gap = point.marked || point === chosen || wanted.has(point) ? 14 : 9;
      const corners = [
        [x + gap, y + 4],
        [x - gap - wide, y + 4],
        [x - wide / 2, y - gap],
        [x - wide / 2, y + gap + 9],
      ];
      const free = corners.find(([left, base]) => {
        const box = [left - 2, base - 12, left + wide + 2, base + 4];
        return (
          inside([box[0], box[1]]) &&
          inside([box[2], box[3]]) &&
          !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])
        );
      });
      if (!free) continue;
      taken.push([free[0] - 2, free[1] - 12, free[0] + wide + 2, free[1] + 4]);
      made.push(
        svgElement(
          'text',
          { x: free[0].toFixed(1), y: free[1].toFixed(1), class: wanted.has(point) ? 'found' : null, direction: 'ltr' },
          [isolated(text)],
        ),
      );
    }
    return made;
  }

  function draw() {
    width = Math.max(280, box.clientWidth);
    view ??= everything();
    const [a, b] = axes();
    const wanted = new Set(found);
    const shown = visible()
      .map((point) => ({ point, at: screen(point) }))
      .filter(({ at }) => inside(at));
    shown.sort((p, q) => p.point.marked - q.point.marked || wanted.has(p.point) - wanted.has(q.point));
    nodes = [];
    const dots = shown.map(({ point, at: [x, y] }) => {
      const classes = [point.marked ? 'marked' : '', wanted.has(point) ? 'hit' : '', point === chosen ? 'chosen' : '']
        .filter(Boolean)
        .join(' ');
      const node = symbol(point.group, point.marked, {
        class: classes || null,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        'data-point': point.i,
      });
      nodes[point.i] = node;
      return node;
    });
    const rings = shown
      .filter(({ point }) => point === chosen || wanted.has(point))
      .map(({ point, at: [x, y] }) =>
        svgElement('circle', {
          class: point === chosen ? 'ring chosen' : 'ring',
          cx: x.toFixed(1),
          cy: y.toFixed(1),
          r: 10,
        }),
      );
    picture.setAttribute('viewBox', `0 0 ${width} ${height()}`);
    picture.setAttribute('width', width);
    picture.setAttribute('height', height());
    picture.setAttribute(
      'aria-label',
      `${counted(shown.length, 'point', 'points')} of ${points.length}. Arrow keys move from point to point, + and − zoom, 0 shows all.`,
    );
    picture.replaceChildren(
      svgElement('rect', {
        class: 'frame',
        x: margin.left,
        y: margin.top,
        width: width - margin.left - margin.right,
        height: height() - margin.top - margin.bottom,
      }),
      svgElement('text', { class: 'axis', x: middle()[0], y: height() - 8, 'text-anchor': 'middle' }, [
        layout().axes[a],
      ]),
      svgElement(
        'text',
        { class: 'axis', 'text-anchor': 'middle', transform: `translate(16 ${middle()[1]}) rotate(-90)` },
        [layout().axes[b]],
      ),
      ...rings,
      ...dots,
      ...labels(shown),
    );
    all.disabled = view.whole === true || JSON.stringify(view) === JSON.stringify(everything());
    writeHash({
      ...state,
      axes: state.axes === '0,1' ? null : state.axes,
      labels: state.labels ? null : '0',
      hidden: [...hidden].join(','),
      point: chosen ? chosen.i : null,
      layout: Number(state.layout) === given.first ? null : state.layout,
    });
  }
  const redraw = onceAFrame(draw);

  function zoom(factor, [x, y] = middle()) {
    const [cx, cy] = middle();
    const whole = everything().scale;
    const scale = Math.min(whole * 1.5, Math.max(whole / 200, view.scale / factor));
    view = { x: view.x + (x - cx) * (view.scale - scale), y: view.y - (y - cy) * (view.scale - scale), scale };
    redraw();
  }
  function reset() {
    view = everything();
    redraw();
  }

  // --- one point ---

  const details = el('aside', { class: 'details', 'aria-label': 'The chosen point' });
  const groupText = ({ group, marked }) =>
    `${given.group_name} ${isolated(given.groups[group])}${marked ? `, ${given.marked_name}` : ''}`;

  function nearestOf(point) {
    const [a, b] = axes();
    const distance = (other) =>
      Math.hypot(column(a)[other.i] - column(a)[point.i], column(b)[other.i] - column(b)[point.i]);
    return visible()
      .filter((other) => other !== point)
      .map((other) => [distance(other), other])
      .sort(([p], [q]) => p - q)
      .slice(0, 6);
  }

  function showDetails() {
    details.classList.toggle('nothing', chosen === null);
    if (chosen === null) {
      details.replaceChildren(
        el('p', { class: 'quiet' }, ['Choose a point: click, tap, search, or move with the arrow keys.']),
      );
      return;
    }
    const [x, y] = place(chosen);
    details.replaceChildren(
      el('h2', {}, [bdi(chosen.label)]),
      el('p', { class: 'group' }, [sample(chosen.group, chosen.marked), ' ', groupText(chosen)]),
      chosen.detail ? el('p', { dir: 'auto' }, [bdi(chosen.detail)]) : '',
      el('p', { class: 'quiet numbers' }, [`at ${x.toPrecision(4)}, ${y.toPrecision(4)}`]),
      el('h3', {}, ['Nearest in this map']),
      el(
        'ol',
        { class: 'nearest' },
        nearestOf(chosen).map(([, other]) =>
          el('li', {}, [
            el('button', { type: 'button', class: 'plain', onclick: () => choose(other) }, [
              sample(other.group, other.marked),
              ' ',
              bdi(other.label),
            ]),
          ]),
        ),
      ),
    );
  }

  function choose(point, speak = false) {
    chosen = point;
    if (point !== null && !inside(screen(point))) {
      const [x, y] = place(point);
      view = { ...view, x, y };
    }
    showDetails();
    draw();
    if (speak && point) announce(`${isolated(point.label)}, ${groupText(point)}. ${point.detail}`);
  }

  const sample = (group, marked) =>
    svgElement('svg', { class: 'sample', width: 18, height: 18, viewBox: '-9 -9 18 18', 'aria-hidden': 'true' }, [
      symbol(group, marked),
    ]);

  // --- pointer and keys on the map ---

  const at = (event) => {
    const frame = picture.getBoundingClientRect();
    return [
      ((event.clientX - frame.left) * width) / frame.width,
      ((event.clientY - frame.top) * height()) / frame.height,
    ];
  };
  function closest([x, y], most) {
    let best = null,
      least = most;
    for (const point of visible()) {
      const spot = screen(point);
      const distance = Math.hypot(spot[0] - x, spot[1] - y);
      if (inside(spot) && distance < least) [best, least] = [point, distance];
    }
    return best;
  }

  let grabbed = null;
  const listeners = {
    pointerdown: (event) => {
      if (event.button === 0) grabbed = { from: at(event), view: { ...view }, moved: false };
      if (event.pointerType === 'mouse') picture.setPointerCapture(event.pointerId);
    },
    pointermove: (event) => {
      const [x, y] = at(event);
      if (grabbed && event.pointerType === 'mouse') {
        const [dx, dy] = [x - grabbed.from[0], y - grabbed.from[1]];
        grabbed.moved ||= Math.hypot(dx, dy) > 4;
        if (grabbed.moved) {
          view = { ...grabbed.view, x: grabbed.view.x - dx * view.scale, y: grabbed.view.y + dy * view.scale };
          tip(0, 0, null);
          redraw();
        }
        return;
      }
      const point = event.pointerType === 'mouse' ? closest([x, y], 14) : null;
      tip(
        event.clientX,
        event.clientY,
        point && [bdi(point.label), groupText(point), ...(point.detail ? [bdi(point.detail)] : [])],
      );
    },
    pointerup: (event) => {
      const point = grabbed && !grabbed.moved ? closest(at(event), event.pointerType === 'mouse' ? 14 : 28) : null;
      grabbed = null;
      if (point) choose(point);
    },
    pointercancel: () => {
      grabbed = null;
    },
    pointerleave: () => tip(0, 0, null),
    dblclick: (event) => zoom(2, at(event)),
    wheel: (event) => {
      if (!event.ctrlKey && document.activeElement !== picture) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), at(event));
    },
    keydown: (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const act = {
        '+': () => zoom(1.5),
        '=': () => zoom(1.5),
        '-': () => zoom(1 / 1.5),
        0: reset,
        ArrowLeft: () => step(-1, 0),
        ArrowRight: () => step(1, 0),
        ArrowUp: () => step(0, -1),
        ArrowDown: () => step(0, 1),
        Escape: () => choose(null),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    },
  };
  for (const [name, listener] of Object.entries(listeners))
    picture.addEventListener(name, listener, name === 'wheel' ? { passive: false } : undefined);

  // The nearest point in a direction, within a quarter of the circle.
  function step(dx, dy) {
    const from = chosen ? screen(chosen) : null;
    const others = visible()
      .map((point) => [point, screen(point)])
      .filter(([point]) => point !== chosen);
    if (!from) return choose(closest(middle(), Infinity) ?? visible()[0] ?? null, true);
    let best = null,
      least = Infinity;
    for (const [point, [x, y]] of others) {
      const along = (x - from[0]) * dx + (y - from[1]) * dy;
      const across = Math.abs((x - from[0]) * dy) + Math.abs((y - from[1]) * dx);
      if (along <= 0 || across > along) continue;
      const distance = along + 2 * across;
      if (distance < least) [best, least] = [point, distance];
    }
    if (best) choose(best, true);
  }

  // --- search, groups, list ---

  const status = el('span', { class: 'quiet', role: 'status' });
  let visited = -1;
  function find() {
    const wanted = state.search.trim().toLowerCase();
    found = wanted
      ? visible().filter(
          ({ label, detail }) => label.toLowerCase().includes(wanted) || detail.toLowerCase().includes(wanted),
        )
      : [];
    visited = -1;
    status.textContent = wanted ? counted(found.length, 'match', 'matches') : '';
    redraw();
  }
  function visit(stepBy) {
    if (!found.length) return;
    visited = visited < 0 ? (stepBy > 0 ? 0 : found.length - 1) : (visited + stepBy + found.length) % found.length;
    status.textContent = `${visited + 1} of ${counted(found.length, 'match', 'matches')}`;
    choose(found[visited]);
  }
  const searchField = el('input', {
    type: 'search',
    value: state.search,
    'aria-label': 'Search the points',
    placeholder: 'Search the points',
    oninput: () => {
      state.search = searchField.value;
      find();
    },
    onkeydown: (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        visit(event.shiftKey ? -1 : 1);
      }
    },
  });

  function legend() {
    const counts = given.groups.map((_, group) => points.filter((point) => point.group === group).length);
    const buttons = given.groups.map((name, group) => {
      const node = el(
        'button',
        {
          type: 'button',
          class: 'group-button',
          'aria-pressed': String(!hidden.has(group)),
          onclick: () => {
            if (hidden.has(group)) hidden.delete(group);
            else hidden.add(group);
            node.setAttribute('aria-pressed', String(!hidden.has(group)));
            if (chosen && hidden.has(chosen.group)) chosen = null;
            find();
            showDetails();
            if (list.open) drawList();
          },
        },
        [sample(group, false), bdi(name), el('span', { class: 'quiet' }, [String(counts[group])])],
      );
      return node;
    });
    return el(
      'div',
      { class: 'legend', role: 'group', 'aria-label': `Points that are shown, by ${given.group_name}` },
      [
        ...buttons,
        points.some(({ marked }) => marked)
          ? el('span', { class: 'quiet' }, [`large, with an edge: ${given.marked_name}`])
          : null,
      ],
    );
  }

  const body = el('tbody');
  function drawList() {
    const [a, b] = axes();
    heads[0].textContent = layout().axes[a];
    heads[1].textContent = layout().axes[b];
    body.replaceChildren(
      ...visible().map((point) =>
        el('tr', {}, [
          el('th', { scope: 'row' }, [
            el('button', { type: 'button', class: 'plain', onclick: () => choose(point) }, [bdi(point.label)]),
          ]),
          el('td', {}, [bdi(given.groups[point.group]), point.marked ? `, ${given.marked_name}` : '']),
          ...place(point).map((x) => el('td', { class: 'numbers' }, [x.toPrecision(4)])),
          el('td', {}, [bdi(point.detail)]),
        ]),
      ),
    );
  }
  const heads = [0, 1].map(() => el('th', { scope: 'col', class: 'numbers' }));
  const list = el(
    'details',
    {
      ontoggle: () => {
        if (list.open) drawList();
      },
    },
    [
      el('summary', {}, ['All points as a list']),
      el('div', { class: 'scrolls points', tabindex: 0, role: 'region', 'aria-label': 'List of the points' }, [
        el('table', {}, [
          el('thead', {}, [
            el('tr', {}, [
              el('th', { scope: 'col' }, ['label']),
              el('th', { scope: 'col' }, [given.group_name]),
              ...heads,
              el('th', { scope: 'col' }, ['more']),
            ]),
          ]),
          body,
        ]),
      ]),
    ],
  );

  // --- controls ---

  function changed() {
    view = null;
    axesField.hidden = layout().axes.length < 3;
    draw();
    showDetails();
    if (list.open) drawList();
  }
  const layoutChoice =
    given.layouts.length > 1
      ? choice(
          'Layout',
          Object.fromEntries(given.layouts.map(({ name }, i) => [String(i), name])),
          state.layout,
          (value) => {
            state.layout = value;
            changed();
          },
        )
      : null;
  const axesSelect = el(
    'select',
    {
      onchange: () => {
        state.axes = axesSelect.value;
        changed();
      },
    },
    [
      ['0,1', '1 and 2'],
      ['0,2', '1 and 3'],
      ['1,2', '2 and 3'],
    ].map(([value, name]) => el('option', { value, selected: value === state.axes }, [name])),
  );
  const axesField = field('Components', axesSelect);
  if (state.labels === '0') state.labels = '';
  const labelToggle = button(
    'Labels',
    () => {
      state.labels = state.labels ? '' : '1';
      labelToggle.setAttribute('aria-pressed', String(Boolean(state.labels)));
      draw();
    },
    { 'aria-pressed': String(Boolean(state.labels)) },
  );
  const all = button('All', reset, { 'aria-label': 'Show all points' });

  // What is nearest to each word, before the map.
  const rankedAtOnce = 10;
  function rankedList({ word, near }) {
    const most = Math.max(1e-9, ...near.map(([, similarity]) => similarity));
    const rows = near.slice(0, rankedAtOnce).map(([label, similarity]) => {
      const bar = el('span', { class: 'bar', 'aria-hidden': 'true' });
      bar.style.width = `${Math.max(0, (100 * similarity) / most).toFixed(1)}%`;
      const point = points.find((each) => each.label === label);
      return el('tr', {}, [
        el('td', {}, [
          point
            ? el('button', { type: 'button', class: 'plain', onclick: () => choose(point) }, [bdi(label)])
            : bdi(label),
        ]),
        el('td', { class: 'numbers' }, [similarity.toFixed(3)]),
        el('td', { class: 'bars' }, [bar]),
      ]);
    });
    return el('table', { class: 'ranked' }, [
      el('caption', {}, ['Nearest to ', bdi(word)]),
      el('thead', { class: 'unseen' }, [
        el('tr', {}, [
          el('th', { scope: 'col' }, ['piece']),
          el('th', { scope: 'col' }, ['similarity']),
          el('td', { 'aria-hidden': 'true' }),
        ]),
      ]),
      el('tbody', {}, rows),
    ]);
  }

  const box = el('div', { class: 'map-box' }, [picture]);
  document.getElementById('main').replaceChildren(
    pageHeader(given.title, [`${counted(points.length, 'vector', 'vectors')} of ${given.width} numbers, in the plane`]),
    given.ranked.length ? el('div', { class: 'ranked-lists' }, given.ranked.map(rankedList)) : '',
    el('div', { class: 'controls' }, [
      layoutChoice,
      axesField,
      labelToggle,
      el('span', { class: 'zoom' }, [
        button('−', () => zoom(1 / 1.5), { 'aria-label': 'Zoom out' }),
        button('+', () => zoom(1.5), { 'aria-label': 'Zoom in' }),
        all,
      ]),
      el('span', { class: 'search', role: 'search' }, [
        searchField,
        button('‹', () => visit(-1), { 'aria-label': 'Previous match' }),
        button('›', () => visit(1), { 'aria-label': 'Next match' }),
        status,
      ]),
    ]),
    legend(),
    el('div', { class: 'map-part' }, [box, details]),
    list,
    shortcuts([
      { keys: ['/'], does: 'search', run: () => searchField.focus() },
      { keys: ['n', 'N'], does: 'next, previous match', run: (key) => visit(key === 'n' ? 1 : -1) },
      { keys: ['l'], does: 'labels', run: () => labelToggle.click() },
    ]),
    pageFooter(
      [
        'On the map, the arrow keys move from point to point, + and − zoom, 0 shows all; drag to move it; the wheel zooms with Ctrl, or when the map has the focus. Points without a label have no room for it; zoom in.',
        'Vectors are scaled to length 1, since similarity is the cosine of their angle. Principal components are the directions in which they differ most, and the axes say how much of the variance they explain. t-SNE keeps near vectors near; its distances between groups mean little.',
        `The page has the places of the points in ${given.layouts.map(({ name }) => name).join(' and ')}, with 6 digits, not the vectors.`,
      ],
      given.generator,
    ),
  );
  axesField.hidden = layout().axes.length < 3;
  view = null;
  draw();
  showDetails();
  if (state.search) find();
  let drawn = width;
  new ResizeObserver(
    onceAFrame(() => {
      if (Math.max(280, box.clientWidth) === drawn) return;
      drawn = Math.max(280, box.clientWidth);
      width = drawn;
      view = null;
      draw();
    }),
  ).observe(box);
  document.getElementById('main').setAttribute('aria-busy', 'false');
}
