'use strict';

// The training histories of runs: curves over steps, with zoom, smoothing, logarithmic scales, and the numbers.
{
  const given = data();
  const one = given.runs.length === 1;
  const names = { loss: 'loss', valid_loss: 'validation loss' };
  const titleOf = (column) => names[column] ?? column.replaceAll('_', ' ');
  const columns = [...new Set(given.runs.flatMap((run) => run.curves.map((curve) => curve.column)))];
  const others = columns.filter((column) => column !== 'loss' && column !== 'valid_loss');
  const hasLoss = others.length < columns.length;
  const hasBoth = columns.includes('loss') && columns.includes('valid_loss');

  const state = {
    measure: hasLoss ? 'loss' : others[0],
    training: '1',
    validation: '1',
    means: '1',
    log: '',
    logsteps: '',
    smooth: '0',
    from: '',
    to: '',
    hidden: '',
    ...readHash(),
  };
  if (state.measure !== 'loss' && !others.includes(state.measure)) state.measure = hasLoss ? 'loss' : others[0];
  const hidden = new Set(state.hidden.split(',').filter(Boolean).map(Number));

  // Numbers as people read them; steps have no fractions where they had none.
  const value = (x) =>
    x === 0 ? '0' : Math.abs(x) < 1e-3 || Math.abs(x) >= 1e7 ? x.toExponential(3) : String(Number(x.toPrecision(6)));
  const stepText = (x) => (Number.isInteger(x) ? x : Number(x.toFixed(1))).toLocaleString('en');

  // Runs that differ in the seed alone are one setting.
  const repeats = given.settings.map((_, setting) => given.runs.filter((run) => run.setting === setting).length);
  const hasRepeats = repeats.some((count) => count > 1);

  // A curve that is drawn: its run, its column and its look. Colours stand for settings, or for columns if there is one
  // run; of several runs validation is thick, and training thin.
  const series = given.runs.flatMap((run, number) =>
    run.curves.map((curve) => ({
      run: number,
      column: curve.column,
      curve,
      name: one ? titleOf(curve.column) : `${run.name}, ${titleOf(curve.column)}`,
      look: stroke(one ? (curve.column === 'valid_loss' ? 1 : 0) : run.setting),
      width: curve.column === 'valid_loss' ? 2.5 : 1.5,
    })),
  );

  function visibleSeries() {
    return series.filter(({ run, column }) => {
      if (hidden.has(run)) return false;
      if (state.measure !== 'loss') return column === state.measure;
      return (
        (column === 'loss' && (state.training || !hasBoth)) ||
        (column === 'valid_loss' && (state.validation || !hasBoth))
      );
    });
  }

  // Exponential moving average, corrected for its beginning, of curves that are not validation.
  function smoothed({ column, curve }) {
    const weight = Number(state.smooth);
    if (!weight || column === 'valid_loss') return curve.points;
    let sum = 0,
      norm = 0;
    return curve.points.map(([step, y]) => {
      sum = weight * sum + (1 - weight) * y;
      norm = weight * norm + (1 - weight);
      return [step, sum / norm];
    });
  }

  function wholeRange() {
    const steps = series.flatMap(({ curve }) => [curve.points[0][0], curve.points.at(-1)[0]]);
    const [low, high] = [Math.min(...steps), Math.max(...steps)];
    return [low, high > low ? high : low + 1];
  }
  const whole = wholeRange();

  function range() {
    const from = state.from === '' ? whole[0] : Math.max(whole[0], Number(state.from));
    const to = state.to === '' ? whole[1] : Math.min(whole[1], Number(state.to));
    return to > from ? [from, to] : whole;
  }

  function zoom(from, to) {
    const least = (whole[1] - whole[0]) / 1e5;
    if (!(to - from > least)) return;
    state.from = from <= whole[0] ? '' : String(Number(from.toPrecision(8)));
    state.to = to >= whole[1] ? '' : String(Number(to.toPrecision(8)));
    draw();
  }

  // --- scales ---

  // A map between values and 0 to 1, and its inverse.
  function scale(low, high, logarithmic) {
    const [a, b] = logarithmic ? [Math.log(low), Math.log(high)] : [low, high];
    return {
      low,
      high,
      logarithmic,
      at: (x) => ((logarithmic ? Math.log(x) : x) - a) / (b - a),
      back: (share) => (logarithmic ? Math.exp(a + share * (b - a)) : a + share * (b - a)),
    };
  }

  function ticks({ low, high, logarithmic }, count) {
    if (logarithmic) {
      const found = [];
      for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
        for (const factor of [1, 2, 5]) if (factor * power >= low && factor * power <= high) found.push(factor * power);
      }
      if (found.length >= 2) {
        const tens = found.filter((x) => Number.isInteger(Number(Math.log10(x).toFixed(9))));
        return found.length > 2 * count && tens.length > 1 ? tens : found;
      }
    }
    const power = 10 ** Math.floor(Math.log10((high - low) / count));
    const distance = [1, 2, 5, 10].map((factor) => factor * power).find((d) => (high - low) / d <= count + 0.5);
    const found = [];
    for (let k = Math.ceil(low / distance - 1e-9); k * distance <= high * (1 + 1e-12); ++k)
      found.push(Number((k * distance).toPrecision(12)));
    return found;
  }

  // --- the chart ---

  const height = 420;
  const margin = { left: 64, right: 16, top: 16, bottom: 44 };
  const longestName = Math.max(...(one ? series.map(({ name }) => name) : given.settings).map(({ length }) => length));
  const picture = svgElement('svg', {
    class: 'chart',
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'chart',
  });
  let x,
    y,
    width = 800,
    shown = [],
    steps = [],
    cursor = null;

  const left = () => margin.left;
  const right = () => width - margin.right;
  const bottom = height - margin.bottom;
  const toX = (step) => left() + x.at(step) * (right() - left());
  const toY = (v) => bottom - y.at(v) * (bottom - margin.top);
  const stepAt = (pixel) => x.back(Math.min(1, Math.max(0, (pixel - left()) / (right() - left()))));

  function within(points, [from, to]) {
    return points.filter(([step]) => step >= from && step <= to);
  }

  function prepare() {
    const [from, to] = range();
    const logSteps = Boolean(state.logsteps);
    x = scale(logSteps ? Math.max(from, firstPositive()) : from, to, logSteps);
    // Dashes stand for runs as colours do; on noisy curves only where there is no other of the run.
    const visible = visibleSeries();
    const validated = new Set(visible.filter(({ column }) => column === 'valid_loss').map(({ run }) => run));
    shown = visible.map((each) => ({
      ...each,
      points: smoothed(each),
      look: each.column === 'loss' && validated.has(each.run) ? { ...each.look, dash: [] } : each.look,
    }));
    const values = shown.flatMap(({ points }) => within(points, [from, to]).map(([, v]) => v));
    const positive = values.filter((v) => v > 0);
    const logarithmic = Boolean(state.log) && positive.length > 0;
    const used = logarithmic ? positive : values;
    let [low, high] = used.length
      ? [used.reduce((a, b) => Math.min(a, b)), used.reduce((a, b) => Math.max(a, b))]
      : [0, 1];
    if (high <= low)
      [low, high] = logarithmic
        ? [low / 1.1, high * 1.1]
        : [low - Math.abs(low) * 0.01 - 1e-9, high + Math.abs(high) * 0.01 + 1e-9];
    const room = logarithmic ? (high / low) ** 0.04 : (high - low) * 0.04;
    y = logarithmic ? scale(low / room, high * room, true) : scale(low - room, high + room, false);
    steps = [...new Set(shown.flatMap(({ points }) => within(points, [from, to]).map(([step]) => step)))].sort(
      (a, b) => a - b,
    );
  }
  function firstPositive() {
    const found = series.flatMap(({ curve }) => curve.points.map(([step]) => step)).filter((step) => step > 0);
    return found.reduce((a, b) => Math.min(a, b), Infinity);
  }

  function axes() {
    const parts = [];
    for (const tick of ticks(y, 9)) {
      parts.push(
        svgElement('line', { class: 'grid', x1: left(), x2: right(), y1: toY(tick), y2: toY(tick) }),
        svgElement('text', { x: left() - 8, y: toY(tick) + 4, 'text-anchor': 'end' }, [value(tick)]),
      );
    }
    const count = Math.max(4, Math.min(9, Math.floor((right() - left()) / 80)));
    for (const tick of ticks(x, count)) {
      const short =
        tick >= 1e6
          ? `${Number((tick / 1e6).toPrecision(4))}M`
          : tick >= 1e4
            ? `${Number((tick / 1e3).toPrecision(4))}k`
            : value(tick);
      parts.push(
        svgElement('line', { class: 'grid', x1: toX(tick), x2: toX(tick), y1: margin.top, y2: bottom }),
        svgElement('text', { x: toX(tick), y: bottom + 18, 'text-anchor': 'middle' }, [short]),
      );
    }
    parts.push(svgElement('text', { x: (left() + right()) / 2, y: height - 6, 'text-anchor': 'middle' }, ['step']));
    return parts;
  }

  function pathOf(points) {
    let path = '',
      pen = false;
    for (const [step, v] of points) {
      if ((x.logarithmic && step <= 0) || (y.logarithmic && v <= 0)) {
        pen = false;
        continue;
      }
      path += `${pen ? 'L' : 'M'}${toX(step).toFixed(1)} ${toY(v).toFixed(1)}`;
      pen = true;
    }
    return path;
  }

  // The mean of the runs of a setting, with one standard deviation on either side, at the steps that all of them have.
  function meansOf(setting) {
    const column = shown.some((each) => each.column === 'valid_loss') ? 'valid_loss' : shown[0]?.column;
    const curves = shown.filter((each) => given.runs[each.run].setting === setting && each.column === column);
    if (curves.length < 2) return [];
    const sums = new Map();
    for (const { points } of curves) for (const [step, v] of points) sums.set(step, [...(sums.get(step) ?? []), v]);
    return [...sums]
      .filter(([, all]) => all.length === curves.length)
      .map(([step, all]) => {
        const mean = all.reduce((sum, v) => sum + v) / all.length;
        const stddev = Math.sqrt(all.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (all.length - 1));
        return [step, mean, stddev];
      })
      .sort(([a], [b]) => a - b);
  }
  const drawsMean = (run) => Boolean(state.means) && repeats[given.runs[run].setting] > 1;

  function meanNodes() {
    if (!state.means) return [];
    return given.settings.flatMap((_, setting) => {
      const points = meansOf(setting);
      if (!points.length) return [];
      const { variable } = stroke(setting);
      const band = [
        ...points.map(([step, mean, stddev]) => [step, mean + stddev]),
        ...points.map(([step, mean, stddev]) => [step, mean - stddev]).reverse(),
      ];
      return [
        svgElement('path', { class: 'spread', d: pathOf(band), fill: `var(${variable})` }),
        svgElement('path', {
          class: 'mean',
          d: pathOf(points.map(([step, mean]) => [step, mean])),
          stroke: `var(${variable})`,
        }),
      ];
    });
  }

  // Names where lines end, moved apart: of settings, or of the two losses of one run.
  function endNames() {
    const ends = [];
    const add = (name, variable, points) => {
      const end = within(points, [x.low, x.high]).at(-1);
      if (end && !(y.logarithmic && end[1] <= 0)) ends.push({ name, variable, y: toY(end[1]) });
    };
    if (one) {
      for (const each of shown) add(titleOf(each.column), each.look.variable, each.points);
    } else {
      given.settings.forEach((name, setting) => {
        const own = shown.filter((each) => given.runs[each.run].setting === setting);
        const best = own.find((each) => each.column === 'valid_loss') ?? own[0];
        if (best) add(name, stroke(setting).variable, best.points);
      });
    }
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => {
      if (i > 0) end.y = Math.max(end.y, ends[i - 1].y + 15);
    });
    const over = Math.max(0, (ends.at(-1)?.y ?? 0) - bottom);
    return ends.flatMap(({ name, variable, y: at }) => [
      svgElement('line', {
        x1: right() + 4,
        x2: right() + 14,
        y1: at - over,
        y2: at - over,
        stroke: `var(${variable})`,
        'stroke-width': 3,
      }),
      svgElement('text', { class: 'end-name', x: right() + 18, y: at + 4 - over }, [
        name.length > 28 ? `${name.slice(0, 27)}…` : name,
        svgElement('title', {}, [name]),
      ]),
    ]);
  }

  function curveNodes({ run, look, width: thickness, points, curve, column, name }) {
    const line = (list, properties) =>
      svgElement('path', {
        class: drawsMean(run) ? 'curve faint' : 'curve',
        d: pathOf(list),
        stroke: `var(${look.variable})`,
        'stroke-width': thickness,
        'stroke-dasharray': look.dash.join(' ') || null,
        ...properties,
      });
    const nodes = [line(points, { 'data-name': name })];
    if (Number(state.smooth) && column !== 'valid_loss') nodes.unshift(line(curve.points, { class: 'curve raw' }));
    const few = within(points, range());
    if (few.length <= (column === 'valid_loss' ? 60 : 2)) {
      for (const [step, v] of few) {
        if (y.logarithmic && v <= 0) continue;
        nodes.push(
          svgElement('circle', {
            cx: toX(step).toFixed(1),
            cy: toY(v).toFixed(1),
            r: 3,
            fill: `var(${look.variable})`,
          }),
        );
      }
    }
    return nodes;
  }

  // The points of the curves nearest to a step.
  function nearest(points, step) {
    let low = 0,
      high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle][0] <= step) low = middle;
      else high = middle;
    }
    return Math.abs(points[low][0] - step) <= Math.abs(points[high][0] - step) ? points[low] : points[high];
  }
  function valuesAt(step) {
    return shown
      .map((each) => ({ ...each, point: nearest(each.points, step) }))
      .filter(({ point: [at] }) => at >= x.low && at <= x.high)
      .sort((a, b) => b.point[1] - a.point[1]);
  }

  const cursorLayer = svgElement('g', { 'aria-hidden': 'true' });
  function drawCursor() {
    cursorLayer.replaceChildren();
    if (cursor === null) return [];
    const found = valuesAt(cursor);
    cursorLayer.append(
      svgElement('line', { class: 'cursor', x1: toX(cursor), x2: toX(cursor), y1: margin.top, y2: bottom }),
      ...found
        .filter(({ point: [, v] }) => !y.logarithmic || v > 0)
        .map(({ point: [step, v], look }) =>
          svgElement('circle', { class: 'at', cx: toX(step), cy: toY(v), r: 4.5, fill: `var(${look.variable})` }),
        ),
    );
    return found;
  }

  function swatch({ look, width: thickness }) {
    return svgElement('svg', { class: 'swatch', width: 28, height: 10, 'aria-hidden': 'true' }, [
      svgElement('line', {
        x1: 0,
        x2: 28,
        y1: 5,
        y2: 5,
        stroke: `var(${look.variable})`,
        'stroke-width': thickness + 0.5,
        'stroke-dasharray': look.dash.join(' ') || null,
      }),
    ]);
  }

  const most = 12; // values in a tip
  function tipLines(found) {
    const lines = found
      .slice(0, most)
      .map((each) => [
        swatch(each),
        ' ',
        bdi(each.name),
        ` ${value(each.point[1])}${each.point[0] === cursor ? '' : ` (step ${stepText(each.point[0])})`}`,
      ]);
    if (found.length > most) lines.push(`and ${found.length - most} more`);
    return [`step ${stepText(cursor)}`, ...lines];
  }
  function sentence(found) {
    return (
      `Step ${stepText(cursor)}. ` + found.map(({ name, point }) => `${isolated(name)} ${value(point[1])}`).join('; ')
    );
  }

  function draw() {
    width = Math.max(280, box.clientWidth);
    margin.right = width < 560 ? 16 : 28 + Math.min(220, 7.4 * Math.min(28, longestName));
    prepare();
    picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    picture.setAttribute('width', width);
    picture.setAttribute('height', height);
    picture.setAttribute(
      'aria-label',
      `${shown.length ? counted(shown.length, 'curve', 'curves') : 'No curve'} of ${titleOf(state.measure)} over steps ${stepText(x.low)} to ${stepText(x.high)}. Arrow keys move over the steps, + and − zoom, 0 shows all.`,
    );
    if (cursor !== null && (cursor < x.low || cursor > x.high)) cursor = null;
    const clip = svgElement('clipPath', { id: 'plot' }, [
      svgElement('rect', { x: left(), y: margin.top - 4, width: right() - left(), height: bottom - margin.top + 8 }),
    ]);
    picture.replaceChildren(
      svgElement('defs', {}, [clip]),
      ...axes(),
      svgElement('g', { 'clip-path': 'url(#plot)' }, [...shown.flatMap(curveNodes), ...meanNodes()]),
      ...(width < 560 ? [] : endNames()),
      cursorLayer,
      selection,
    );
    drawCursor();
    for (const [input, bound] of [
      [fromInput, x.low],
      [toInput, x.high],
    ]) {
      if (document.activeElement !== input) input.value = String(Number(bound.toPrecision(8)));
    }
    all.disabled = state.from === '' && state.to === '';
    if (details.open) drawRows();
    for (const node of lossOnly) node.hidden = state.measure !== 'loss';
    const per = columns.includes('nodes') ? 'node' : 'token';
    unit.textContent = state.measure.endsWith('loss') ? `nats per ${per}` : titleOf(state.measure);
    writeHash({
      ...state,
      measure: hasLoss && state.measure === 'loss' ? null : state.measure,
      training: state.training ? null : '0',
      validation: state.validation ? null : '0',
      means: state.means ? null : '0',
      smooth: Number(state.smooth) ? state.smooth : null,
      hidden: [...hidden].join(','),
    });
  }

  // --- the pointer and the keys on the chart ---

  const selection = svgElement('rect', { class: 'selection', y: margin.top, height: bottom - margin.top, width: 0 });
  let grabbed = null;
  const pixelOf = (event) => {
    const frame = picture.getBoundingClientRect();
    return ((event.clientX - frame.left) * width) / frame.width;
  };

  function hover(event) {
    if (!shown.length || !steps.length) return;
    const at = stepAt(pixelOf(event));
    cursor = nearest(
      steps.map((step) => [step]),
      at,
    )[0];
    tip(event.clientX, event.clientY, tipLines(drawCursor()));
  }
  function leave() {
    cursor = null;
    drawCursor();
    tip(0, 0, null);
  }
  const listeners = {
    pointerdown: (event) => {
      if (event.button !== 0) return;
      grabbed = pixelOf(event);
      if (event.pointerType === 'mouse') picture.setPointerCapture(event.pointerId);
    },
    pointermove: (event) => {
      hover(event);
      if (grabbed === null || event.pointerType !== 'mouse') return;
      const [a, b] = [grabbed, pixelOf(event)]
        .map((pixel) => Math.min(right(), Math.max(left(), pixel)))
        .sort((p, q) => p - q);
      selection.setAttribute('x', a);
      selection.setAttribute('width', b - a);
    },
    pointerup: (event) => {
      if (grabbed !== null && event.pointerType === 'mouse' && Math.abs(pixelOf(event) - grabbed) > 6) {
        const [a, b] = [stepAt(grabbed), stepAt(pixelOf(event))].sort((p, q) => p - q);
        zoom(a, b);
      }
      grabbed = null;
      selection.setAttribute('width', 0);
    },
    pointercancel: () => {
      grabbed = null;
      selection.setAttribute('width', 0);
    },
    pointerleave: leave,
    blur: leave,
    dblclick: () => zoom(...whole),
    keydown: onKey,
  };
  for (const [name, listener] of Object.entries(listeners)) picture.addEventListener(name, listener);

  function zoomAround(factor) {
    const [low, high] = [x.at(x.low), x.at(x.high)];
    const middle = cursor === null ? (low + high) / 2 : x.at(cursor);
    zoom(
      Math.max(whole[0], x.back(middle + (low - middle) * factor)),
      Math.min(whole[1], x.back(middle + (high - middle) * factor)),
    );
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (['+', '=', '-', '0'].includes(event.key)) {
      event.preventDefault();
      if (event.key === '0') zoom(...whole);
      else zoomAround(event.key === '-' ? 2 : 0.5);
      announce(`Steps ${stepText(x.low)} to ${stepText(x.high)}`);
      return;
    }
    const stride = event.shiftKey || event.key.startsWith('Page') ? Math.max(1, Math.round(steps.length / 10)) : 1;
    const at = cursor === null ? -1 : steps.indexOf(cursor);
    const to = {
      ArrowRight: at + stride,
      PageDown: at + stride,
      ArrowLeft: (at < 0 ? steps.length : at) - stride,
      PageUp: at - stride,
      Home: 0,
      End: steps.length - 1,
    }[event.key];
    if (event.key === 'Escape') return leave();
    if (to === undefined || !steps.length) return;
    event.preventDefault();
    cursor = steps[Math.max(0, Math.min(steps.length - 1, to))];
    const found = drawCursor();
    const frame = picture.getBoundingClientRect();
    tip(frame.left + (toX(cursor) * frame.width) / width, frame.top + margin.top, tipLines(found));
    announce(sentence(found));
  }

  // --- the tables ---

  function summaryTable() {
    const cell = (curve, which) => (curve ? value(curve[which][1]) : '');
    const rows = given.runs.map((run) => {
      const [train, valid] = ['loss', 'valid_loss'].map((name) => run.curves.find((curve) => curve.column === name));
      const last = Math.max(...run.curves.map((curve) => curve.last[0]));
      return el('tr', {}, [
        el('th', { scope: 'row' }, [swatch({ look: stroke(one ? 0 : run.setting), width: 2.5 }), ' ', bdi(run.name)]),
        ...[
          stepText(last),
          cell(train, 'last'),
          cell(valid, 'last'),
          cell(valid, 'lowest'),
          valid ? stepText(valid.lowest[0]) : '',
        ].map((text) => el('td', { class: 'numbers' }, [text])),
        ...run.values.map((text) => el('td', {}, [bdi(text)])),
      ]);
    });
    return el('div', { class: 'scrolls', tabindex: 0, role: 'region', 'aria-label': 'Table of the runs' }, [
      el('table', { class: 'runs' }, [
        el('caption', { class: 'unseen' }, ['Losses of the runs']),
        el('thead', {}, [
          el(
            'tr',
            {},
            ['run', 'steps', 'training', 'validation', 'lowest', 'at step']
              .map((name, i) => el('th', { scope: 'col', class: i ? 'numbers' : null }, [name]))
              .concat(given.options.map((name) => el('th', { scope: 'col' }, [name]))),
          ),
        ]),
        el('tbody', {}, rows),
      ]),
    ]);
  }

  // --- the loss against an option whose values are numbers; runs with its default are left out ---

  const numberOf = (run, i) => (run.values[i] === '' ? NaN : Number(run.values[i]));
  const numeric = given.options
    .map((name, i) => ({ name, i }))
    .filter(({ name, i }) => {
      const numbers = given.runs.map((run) => numberOf(run, i)).filter(Number.isFinite);
      const words = given.runs.filter((run) => run.values[i] !== '').length - numbers.length;
      return name !== 'seed' && words === 0 && new Set(numbers).size > 1;
    });
  const judged = given.runs.flatMap((run, number) => {
    const curve = ['valid_loss', 'loss'].map((name) => run.curves.find((each) => each.column === name)).find(Boolean);
    return curve ? [{ run, number, loss: curve.lowest[1] }] : [];
  });

  function againstOption() {
    if (!numeric.length || judged.length < 2) return '';
    const holder = el('div', { class: 'against' });
    const show = (i) => holder.replaceChildren(scatter(numeric.find((each) => each.i === Number(i))));
    const select = el(
      'select',
      { onchange: () => show(select.value) },
      numeric.map(({ name, i }) => el('option', { value: i }, [name])),
    );
    show(numeric[0].i);
    return el('section', {}, [el('h2', {}, ['Lowest loss against an option']), field('Option', select), holder]);
  }

  function scatter({ name, i }) {
    const [plotWidth, plotHeight, room] = [480, 260, { left: 64, right: 20, top: 12, bottom: 44 }];
    const dots = judged.filter(({ run }) => Number.isFinite(numberOf(run, i)));
    const at = dots.map(({ run }) => numberOf(run, i));
    const [least, most] = [Math.min(...at), Math.max(...at)];
    const across = scale(least, most, least > 0 && most / least >= 8);
    const losses = dots.map(({ loss }) => loss);
    const [low, high] = [Math.min(...losses), Math.max(...losses)];
    const up = scale(low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1), false);
    const px = (v) => room.left + (0.04 + 0.92 * across.at(v)) * (plotWidth - room.left - room.right);
    const py = (v) => plotHeight - room.bottom - up.at(v) * (plotHeight - room.top - room.bottom);
    const text = (content, properties) => svgElement('text', properties, [content]);
    return svgElement(
      'svg',
      {
        class: 'chart scatter',
        viewBox: `0 0 ${plotWidth} ${plotHeight}`,
        role: 'img',
        'aria-label': `Lowest loss against ${name}: ${dots.map(({ loss }, k) => `${at[k]}: ${value(loss)}`).join('; ')}`,
      },
      [
        ...ticks(up, 5).flatMap((tick) => [
          svgElement('line', { class: 'grid', x1: room.left, x2: plotWidth - room.right, y1: py(tick), y2: py(tick) }),
          text(value(tick), { x: room.left - 8, y: py(tick) + 4, 'text-anchor': 'end' }),
        ]),
        ...[...new Set(at)].map((v) => text(value(v), { x: px(v), y: plotHeight - 24, 'text-anchor': 'middle' })),
        text(name, { x: (room.left + plotWidth - room.right) / 2, y: plotHeight - 6, 'text-anchor': 'middle' }),
        ...dots.map(({ run, loss }, k) =>
          svgElement(
            'circle',
            { class: 'at', cx: px(at[k]), cy: py(loss), r: 5, fill: `var(${stroke(run.setting).variable})` },
            [svgElement('title', {}, [`${run.name}: ${value(loss)}`])],
          ),
        ),
      ],
    );
  }

  const rowsAtOnce = 200;
  let rowLimit = rowsAtOnce;
  const valueTable = el('table');
  const moreRows = button('', () => {
    rowLimit += 5 * rowsAtOnce;
    drawRows();
  });
  function drawRows() {
    const byStep = shown.map(({ points }) => new Map(within(points, [x.low, x.high])));
    valueTable.replaceChildren(
      el('thead', {}, [
        el('tr', {}, [
          el('th', { scope: 'col', class: 'numbers' }, ['step']),
          ...shown.map((each) => el('th', { scope: 'col', class: 'numbers' }, [bdi(each.name)])),
        ]),
      ]),
      el(
        'tbody',
        {},
        steps
          .slice(0, rowLimit)
          .map((step) =>
            el('tr', {}, [
              el('th', { scope: 'row', class: 'numbers' }, [stepText(step)]),
              ...byStep.map((points) =>
                el('td', { class: 'numbers' }, [points.has(step) ? value(points.get(step)) : '']),
              ),
            ]),
          ),
      ),
    );
    moreRows.hidden = steps.length <= rowLimit;
    moreRows.textContent = `Show more of ${counted(steps.length, 'row', 'rows')}`;
  }
  const details = el(
    'details',
    {
      ontoggle: () => {
        if (details.open) drawRows();
      },
    },
    [
      el('summary', {}, ['All values that are shown']),
      el('div', { class: 'scrolls values', tabindex: 0, role: 'region', 'aria-label': 'Table of the values' }, [
        valueTable,
      ]),
      moreRows,
    ],
  );

  // --- controls ---

  function toggle(label, name, off = '') {
    const node = button(
      label,
      () => {
        state[name] = state[name] ? off : '1';
        node.setAttribute('aria-pressed', String(Boolean(state[name])));
        draw();
      },
      { 'aria-pressed': String(Boolean(state[name])) },
    );
    return node;
  }
  for (const name of ['training', 'validation']) if (state[name] === '0') state[name] = '';
  const trainingToggle = toggle('Training', 'training'),
    validationToggle = toggle('Validation', 'validation');
  const lossOnly = hasBoth ? [trainingToggle, validationToggle] : [];
  if (state.means === '0') state.means = '';
  const meansToggle = hasRepeats ? toggle('Mean of seeds', 'means') : null;
  const logToggle = toggle('Log values', 'log'),
    logSteps = toggle('Log steps', 'logsteps');

  const measure = el(
    'select',
    {
      onchange: () => {
        state.measure = measure.value;
        draw();
      },
    },
    [...(hasLoss ? ['loss'] : []), ...others].map((name) =>
      el('option', { value: name, selected: name === state.measure }, [titleOf(name)]),
    ),
  );

  const smoothText = el('output', { class: 'numbers' }, [Number(state.smooth).toFixed(2)]);
  const smooth = el('input', {
    type: 'range',
    min: 0,
    max: 0.99,
    step: 0.01,
    value: state.smooth,
    'aria-label': 'Smoothing',
    oninput: () => {
      state.smooth = smooth.value;
      smoothText.textContent = Number(smooth.value).toFixed(2);
      redraw();
    },
  });
  const redraw = onceAFrame(draw);

  const bound = (name) => {
    const input = el('input', {
      type: 'text',
      inputmode: 'numeric',
      class: 'bound',
      'aria-label': `${name} step`,
      onchange: () => {
        const number = Number(input.value.replaceAll(',', ''));
        const [from, to] = range();
        if (input.value.trim() !== '' && Number.isFinite(number))
          name === 'First' ? zoom(Math.max(number, whole[0]), to) : zoom(from, Math.min(number, whole[1]));
        input.value = String(Number((name === 'First' ? x.low : x.high).toPrecision(8)));
      },
    });
    return input;
  };
  const fromInput = bound('First'),
    toInput = bound('Last');
  const all = button('All steps', () => zoom(...whole));

  function legend() {
    if (one) {
      return el(
        'ul',
        { class: 'legend' },
        series
          .filter(({ column }) => column === 'loss' || column === 'valid_loss')
          .map((each) => el('li', {}, [swatch(each), ' ', each.name])),
      );
    }
    const buttons = given.runs.map((run, number) => {
      const node = el(
        'button',
        {
          type: 'button',
          class: 'run',
          'aria-pressed': String(!hidden.has(number)),
          onclick: () => {
            if (hidden.has(number)) hidden.delete(number);
            else hidden.add(number);
            node.setAttribute('aria-pressed', String(!hidden.has(number)));
            draw();
          },
        },
        [swatch({ look: stroke(run.setting), width: 2.5 }), bdi(run.name)],
      );
      return node;
    });
    const set = (only) => {
      given.runs.forEach((_, number) => {
        if (only) hidden.delete(number);
        else hidden.add(number);
      });
      buttons.forEach((node) => node.setAttribute('aria-pressed', String(only)));
      draw();
    };
    return el('div', { class: 'legend', role: 'group', 'aria-label': 'Runs that are shown' }, [
      ...buttons,
      ...(given.runs.length > 3 ? [button('All', () => set(true)), button('None', () => set(false))] : []),
    ]);
  }

  const unit = el('p', { class: 'quiet unit' });
  const box = el('div', { class: 'chart-box' }, [unit, picture]);
  const thinned = series.filter(({ curve }) => curve.logged > curve.points.length).length;

  document
    .getElementById('main')
    .replaceChildren(
      pageHeader(
        one ? 'Training history' : `Training histories of ${counted(given.runs.length, 'run', 'runs')}`,
        one ? [bdi(given.runs[0].name)] : [],
      ),
      el('div', { class: 'controls' }, [
        columns.length > (hasBoth ? 2 : 1) ? field('Show', measure) : null,
        ...lossOnly,
        meansToggle,
        logToggle,
        logSteps,
        field('Smoothing', smooth, smoothText),
        el('span', { class: 'field' }, [el('span', { class: 'name' }, ['Steps']), fromInput, ' to ', toInput, all]),
      ]),
      legend(),
      box,
      el('p', { class: 'quiet' }, [
        'Drag over the chart to zoom into steps, double-click to see all. On the chart, ← and → move over the steps, + and − zoom, 0 shows all.',
      ]),
      el('h2', {}, [one ? 'The run' : 'The runs']),
      summaryTable(),
      againstOption(),
      details,
      pageFooter(
        [
          ...(hasBoth && !one
            ? ['Thin lines are training, thick ones validation. Runs that differ in the seed alone have one colour.']
            : []),
          ...(hasRepeats ? ['The mean of such runs is a thick line, with one standard deviation on either side.'] : []),
          'Smoothing is an exponential moving average with this weight of the values before, corrected for its beginning; validation is not smoothed.',
          `The page has at most ${given.most_points.toLocaleString('en')} points of each curve, with 7 digits${thinned ? `; ${counted(thinned, 'curve', 'curves')} with more are shown as means of equal ranges of steps` : ''}. The last and lowest values of the table are exact.`,
        ],
        given.generator,
      ),
    );
  draw();
  new ResizeObserver(
    onceAFrame(() => {
      if (Math.max(280, box.clientWidth) !== width) draw();
    }),
  ).observe(box);
  document.getElementById('main').setAttribute('aria-busy', 'false');
}
