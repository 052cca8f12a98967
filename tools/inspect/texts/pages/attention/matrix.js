// A matrix of shaded cells with names on both axes, which stay in sight while the cells scroll in their box. Only what
// the box shows is drawn, so that the size of a text has no limit. ROWS and COLUMNS are arrays of {label}.
class Matrix {
  #cell = null; // the width of a cell in pixels that was chosen; null to fit
  #over = null; // the cell under the pointer, which is at #pointer
  #pointer = null;
  #content = null;

  // SAYS(row, column): lines about a cell. PICK(row, column): a cell was clicked or reached by keys.
  constructor({ label, rows, columns, says, pick, enter = null }) {
    Object.assign(this, { rows, columns, says, pick, enter });
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.room = el('div', { class: 'room' }, [this.canvas]);
    this.box = el(
      'div',
      {
        class: 'matrix',
        tabindex: 0,
        role: 'application',
        'aria-label': label,
        'aria-roledescription': 'matrix',
        onscroll: () => this.redraw(),
        onkeydown: (event) => this.#walk(event),
      },
      [this.room],
    );
    this.redraw = onceAFrame(() => this.#draw());
    this.canvas.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'mouse') this.#point(event);
    });
    this.canvas.addEventListener('pointerleave', () => this.#leave());
    this.canvas.addEventListener('click', (event) => {
      const cell = this.#at(event);
      if (cell) this.pick(cell.row, cell.column);
    });
    this.out = button('−', () => this.#zoom(1 / 1.4), { 'aria-label': 'Smaller cells' });
    this.in = button('+', () => this.#zoom(1.4), { 'aria-label': 'Larger cells' });
    this.fit = button(
      'Fit',
      () => {
        this.#cell = this.#fitting(1);
        this.redraw();
      },
      { 'aria-label': 'Fit the matrix into the page' },
    );
    this.tools = el('div', { class: 'row' }, [this.out, this.in, this.fit]);
    this.sizes = new ResizeObserver(this.redraw);
    this.sizes.observe(this.box.parentElement ?? document.getElementById('main'));
    this.frame = el('div', {}, [this.box]);
  }

  // BYTE(row, column): 0 to 255, or -1 for a cell that is masked; isBroken(row, column): a weight that is not finite.
  // PICKED: {row, column}, null or each null. ROWMARKS and COLUMNMARKS: {tokens, current} of the search.
  show(shown) {
    this.#content = shown;
    this.#report(); // the pointer may rest on a cell of another layer or head
    this.redraw();
  }
  end() {
    this.sizes.disconnect();
    tip(0, 0, null);
  }

  #fitting(least) {
    const room = this.frame.clientWidth - this.#gutter() - 2;
    const height = 0.76 * innerHeight - this.#heading();
    const wide = Math.floor((room / Math.max(1, this.columns.length)) * 4) / 4;
    const high = Math.max(24, Math.floor(height / Math.max(1, this.rows.length)));
    return Math.max(least, Math.min(44, wide, high));
  }
  get cell() {
    return this.#cell ?? this.#fitting(12);
  }
  #gutter() {
    return Math.min(
      this.frame.clientWidth < 480 ? 76 : 132,
      14 + 8 * Math.max(3, ...this.rows.slice(0, 4096).map(({ label }) => label.length)),
    );
  }
  #heading() {
    return Math.min(96, 14 + 8 * Math.max(3, ...this.columns.slice(0, 4096).map(({ label }) => label.length)));
  }
  #zoom(factor) {
    this.#cell = Math.min(64, Math.max(1, this.cell * factor));
    this.redraw();
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.#gutter() + this.box.scrollLeft) / this.cell);
    const row = Math.floor((event.clientY - box.top - this.#heading() + this.box.scrollTop) / this.cell);
    const inside = event.clientX - box.left >= this.#gutter() && event.clientY - box.top >= this.#heading();
    return inside && row >= 0 && row < this.rows.length && column >= 0 && column < this.columns.length
      ? { row, column }
      : null;
  }
  #point(event) {
    const cell = this.#at(event);
    if (cell?.row !== this.#over?.row || cell?.column !== this.#over?.column) this.redraw();
    this.#over = cell;
    this.#pointer = { x: event.clientX, y: event.clientY };
    if (cell) this.#report();
    else tip(0, 0, null);
  }
  #report() {
    if (this.#over) tip(this.#pointer.x, this.#pointer.y, this.says(this.#over.row, this.#over.column));
  }
  #leave() {
    this.#over = null;
    tip(0, 0, null);
    this.redraw();
  }

  #walk(event) {
    const picked = this.#content?.picked ?? {};
    const { row = null, column = null } = picked;
    if (event.key === 'Enter' && this.enter && row !== null && column !== null) {
      event.preventDefault();
      return this.enter(row, column);
    }
    const steps = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      PageDown: [10, 0],
      PageUp: [-10, 0],
      Home: [0, -this.columns.length],
      End: [0, this.columns.length],
    }[event.key];
    if (!steps || !this.rows.length || !this.columns.length) return;
    event.preventDefault();
    const begun = row !== null && column !== null;
    const to = (value, step, count) => (begun ? Math.min(Math.max(value + step, 0), count - 1) : (value ?? 0));
    const [i, j] = [to(row, steps[0], this.rows.length), to(column, steps[1], this.columns.length)];
    this.#leave(); // the keys have the say until the pointer moves again
    this.pick(i, j);
    this.reveal(i, j);
    announce(
      this.says(i, j)
        .map((line) =>
          [line]
            .flat()
            .map((part) => part.textContent ?? part)
            .join(''),
        )
        .join(', '),
    );
  }

  // Scrolls the box so that a cell can be seen.
  reveal(row, column) {
    const scroll = (name, at, room, before) => {
      const start = at * this.cell;
      if (start < this.box[name]) this.box[name] = start;
      else if (start + this.cell > this.box[name] + room - before) this.box[name] = start + this.cell - room + before;
    };
    if (row !== null) scroll('scrollTop', row, this.box.clientHeight, this.#heading());
    if (column !== null) scroll('scrollLeft', column, this.box.clientWidth, this.#gutter());
  }

  #draw() {
    if (!this.#content || !this.box.isConnected) return;
    const { cell } = this;
    const [gutter, heading] = [this.#gutter(), this.#heading()];
    const [width, height] = [gutter + this.columns.length * cell + 1, heading + this.rows.length * cell + 1];
    this.room.style.width = `${width}px`;
    this.room.style.height = `${height}px`;
    const [shownWidth, shownHeight] = [Math.min(width, this.box.clientWidth), Math.min(height, this.box.clientHeight)];
    const context = sized(this.canvas, shownWidth, shownHeight);
    const [left, top] = [this.box.scrollLeft, this.box.scrollTop];
    const range = (start, room, count) => [
      Math.max(0, Math.floor(start / cell)),
      Math.min(count, Math.ceil((start + room) / cell)),
    ];
    const columns = range(left, shownWidth - gutter, this.columns.length);
    const rows = range(top, shownHeight - heading, this.rows.length);
    context.save();
    context.beginPath();
    context.rect(gutter, heading, shownWidth - gutter, shownHeight - heading);
    context.clip();
    context.translate(gutter - left, heading - top);
    this.#drawCells(context, rows, columns);
    this.#drawFrames(context);
    context.restore();
    this.#drawNames(context, { gutter, heading, left, top, rows, columns, shownWidth, shownHeight });
  }

  #drawCells(context, [firstRow, endRow], [firstColumn, endColumn]) {
    const { cell } = this;
    const { byte, isBroken, shading } = this.#content;
    const [columns, rows] = [endColumn - firstColumn, endRow - firstRow];
    if (columns < 1 || rows < 1) return;
    const colours = shades(shading);
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < rows; ++i) {
      for (let j = 0; j < columns; ++j) {
        const value = byte(firstRow + i, firstColumn + j);
        pixels[i * columns + j] = value < 0 ? 0 : colours[value];
      }
    }
    const small = new OffscreenCanvas(columns, rows);
    small.getContext('2d').putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, firstColumn * cell, firstRow * cell, columns * cell, rows * cell);
    if (cell >= 8) this.#drawGaps(context, [firstRow, endRow], [firstColumn, endColumn]);
    for (let i = firstRow; i < endRow; ++i) {
      for (let j = firstColumn; j < endColumn; ++j) {
        if (isBroken?.(i, j)) hatch(context, j * cell, i * cell, cell);
        else if (cell >= 24 && byte(i, j) >= leastNumber) this.#drawNumber(context, i, j, colours[byte(i, j)]);
      }
    }
  }

  #drawGaps(context, [firstRow, endRow], [firstColumn, endColumn]) {
    const { cell } = this;
    context.fillStyle = css(rgb('--paper'));
    for (let i = firstRow; i <= endRow; ++i)
      context.fillRect(firstColumn * cell, i * cell - 0.5, (endColumn - firstColumn) * cell, 1);
    for (let j = firstColumn; j <= endColumn; ++j)
      context.fillRect(j * cell - 0.5, firstRow * cell, 1, (endRow - firstRow) * cell);
  }

  #drawNumber(context, row, column, pixel) {
    const { cell } = this;
    context.fillStyle = textOn([pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]);
    context.font = `${Math.min(12, cell * 0.34)}px ${font}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(meanText(this.#content.byte(row, column) / 255), (column + 0.5) * cell, (row + 0.5) * cell);
  }

  #drawFrames(context) {
    const { cell } = this;
    const frame = (at, colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(at.column * cell, at.row * cell, cell, cell);
    };
    const { picked } = this.#content;
    if (this.#over) frame(this.#over, css(rgb('--ink')), 1.5);
    if (picked && picked.row !== null && picked.column !== null) {
      frame(picked, css(rgb('--paper')), 5);
      frame(picked, css(rgb('--accent')), 3);
    }
  }

  #drawNames(context, { gutter, heading, left, top, rows, columns, shownWidth, shownHeight }) {
    const { cell } = this;
    const { picked, rowMarks, columnMarks } = this.#content;
    const size = Math.min(13, Math.max(10, cell - 1));
    const every = Math.max(1, Math.ceil(12 / cell));
    context.textBaseline = 'middle';
    const write = (at, token, room, strong, found) => {
      const mark = found?.current.has(at) ? 2 : found?.tokens.has(at) ? 1 : 0;
      const text = shortened(context, drawnLabel(token), room);
      if (mark) {
        context.fillStyle = css(rgb('--mark'));
        context.fillRect(-2, -size / 2 - 2, context.measureText(text).width + 4, size + 4);
        context.fillStyle = css(rgb('--mark-edge'));
        context.fillRect(
          -2,
          size / 2 + (mark === 2 ? 0 : 1),
          context.measureText(text).width + 4,
          mark === 2 ? 2.5 : 1,
        );
      }
      context.fillStyle = css(rgb(strong || mark ? '--ink' : '--quiet'));
      context.fillText(text, 0, 0);
    };
    const names = (list, [first, end], room, chosen, found, place) => {
      for (let at = first; at < end; ++at) {
        const strong = chosen.includes(at);
        if (at % every && !strong && !found?.tokens.has(at)) continue;
        if (!strong && every > 1 && chosen.some((each) => each !== null && Math.abs(each - at) < every)) continue;
        context.font = `${strong ? '600 ' : ''}${size}px ${font}`;
        context.save();
        place(at);
        write(at, list[at], room, strong, found);
        context.restore();
      }
    };
    context.textAlign = 'left';
    context.save();
    context.beginPath();
    context.rect(0, heading, gutter - 4, shownHeight - heading);
    context.clip();
    names(this.rows, rows, gutter - 12, [this.#over?.row ?? null, picked?.row ?? null], rowMarks, (at) => {
      const text = shortened(context, drawnLabel(this.rows[at]), gutter - 12);
      context.translate(gutter - 8 - context.measureText(text).width, heading + (at + 0.5) * cell - top);
    });
    context.restore();
    context.save();
    context.beginPath();
    context.rect(gutter, 0, shownWidth - gutter, heading - 4);
    context.clip();
    names(
      this.columns,
      columns,
      heading - 14,
      [this.#over?.column ?? null, picked?.column ?? null],
      columnMarks,
      (at) => {
        context.translate(gutter + (at + 0.5) * cell - left, heading - 8);
        context.rotate(-Math.PI / 2);
      },
    );
    context.restore();
  }
}

// The least weight that is written into its cell: others are there on hover.
const leastNumber = 0.1 * 255;

const font = 'system-ui, "Noto Sans", sans-serif';

// A label that is at most ROOM pixels wide in the font of the context, cut at a letter.
function shortened(context, label, room) {
  if (label.length < 4 || context.measureText(label).width <= room) return label;
  const letters = [...label];
  let [fits, least] = [1, letters.length];
  while (fits + 1 < least) {
    const half = (fits + least) >> 1;
    if (context.measureText(letters.slice(0, half).join('') + '…').width <= room) fits = half;
    else least = half;
  }
  return letters.slice(0, fits).join('') + '…';
}
